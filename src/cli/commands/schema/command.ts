import { SETTINGS } from '../../../settings/settings-table.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk schema`: the tables and views of a warehouse. */
export const schema: Command = {
  name: 'schema',
  summary: 'tables, views and the meaning of columns, as markdown, JSON or SQL',
  description:
    'Prints the tables and views of a warehouse: as markdown for people, as JSON for tools, or as the SQL that creates ' +
    'them. Marks columns whose values must not be summed over days or groups.',
  uses: [SETTINGS.log, SETTINGS.debug],
  flags: [
    { syntax: '--format <format>', doc: 'markdown, json or sql (default: markdown)' },
    {
      syntax: '--database <database>',
      doc: 'with --format sql: sqlite or postgres (default: sqlite; postgres with --distributed)',
    },
    {
      syntax: '--distributed <extension>',
      doc: 'with --format sql: citus adds statements that distribute the tables over several servers by organization',
    },
  ],
  examples: [
    { line: 'daywalk schema | less', does: 'all tables and views, with example queries' },
    {
      line: "daywalk schema --format json | jq -r '.tables[].columns[] | select(.additive == false).name'",
      does: 'the columns that must not be summed',
    },
    {
      line: 'daywalk schema --format sql --distributed citus | psql -v ON_ERROR_STOP=1 "$URL"',
      does: 'an empty warehouse that is distributed over a Citus cluster',
    },
  ],
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
