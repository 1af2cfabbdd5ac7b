import { biTargets } from '../../../bi/targets.ts';
import { SETTINGS } from '../../../settings/settings-table.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk bi`: ready files for other tools. */
export const bi: Command = {
  name: 'bi',
  summary: 'writes ready files for the tools that you already use',
  description:
    'Writes files for another tool, made from the schema and the dictionary of metrics. Opens no warehouse. Writes ' +
    'into an empty folder, or updates the files that it has written there; if somebody has edited one of them, it names the ' +
    'file and writes nothing.',
  uses: [SETTINGS.log, SETTINGS.debug],
  operands: {
    '<target>': biTargets.map(({ name, summary }) => `${name}: ${summary}`).join('; '),
  },
  flags: {
    '--out <folder>': 'the folder to write; it is created if it does not exist',
    ...jsonFlag,
  },
  required: ['--out'],
  examples: {
    'daywalk bi sql --out daywalk-sql': 'statements for Metabase, Superset, Redash and others',
    'daywalk bi sql --out daywalk-sql --json': 'the same, with the result as JSON',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
