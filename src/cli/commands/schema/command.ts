import { SETTINGS } from '../../../settings/settings-table.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk schema`: the tables and views of a warehouse. */
export const schema: Command = {
  name: 'schema',
  summary: 'the tables, views and columns, as markdown, JSON or SQL',
  description:
    'Prints the tables and views of a warehouse: as markdown for people, as JSON for tools, or as the SQL that creates ' +
    'them. Marks columns whose values must not be summed over days or groups.',
  uses: [SETTINGS.log, SETTINGS.debug],
  flags: {
    '--format <format>': 'markdown, json or sql (default: markdown)',
    '--database <database>':
      'with --format sql: sqlite or postgres (default: sqlite; postgres with --distributed)',
    '--distributed <extension>':
      'with --format sql: citus adds statements that distribute the tables over several servers by organization',
  },
  examples: {
    'daywalk schema | less': 'all tables and views, with example queries',
    "daywalk schema --format json | jq -r '.tables[].columns[] | select(.additive == false).name'":
      'the columns that must not be summed',
    'daywalk schema --format sql --distributed citus | psql -v ON_ERROR_STOP=1 "$URL"':
      'an empty warehouse that is distributed over a Citus cluster',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
