import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { quarantineGroup } from '../group.ts';

/** `daywalk quarantine accept`: known records no longer affect the exit code. */
export const quarantineAccept: Command = {
  name: 'quarantine accept',
  group: quarantineGroup,
  summary: 'accepts known records, so that they no longer affect the exit code',
  description:
    'Accepts quarantined records: they stay listed, but no longer affect the exit code of run and backfill. An accepted ' +
    'record that changes counts again. Every run still pulls the unit, and a record leaves the quarantine when the ' +
    'service returns a valid one. Sends nothing.',
  uses: warehouseSettings,
  flags: {
    '--stream <name>': 'accept the records of this stream',
    '--date <day>': 'accept the records of this UTC day',
    '--all': 'accept every record',
    '--organization <name>':
      'of this organization only, by its ID or its name in the organizations file (default: of every one)',
    ...jsonFlag,
  },
  examples: {
    'daywalk quarantine accept --stream users --date 2026-03-02': 'accepts the records of one unit',
    'daywalk quarantine accept --all': 'accepts every record that is known today',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
