import { EXIT } from '../../core/exit-code.ts';
import { oneOf } from '../../settings/parsers/choice.ts';
import { SETTINGS } from '../../settings/settings-table.ts';
import type { Command } from '../command.ts';

/** `daywalk schema`: the tables and views of a warehouse. */
export const schema: Command = {
  name: 'schema',
  summary: 'tables and views, what columns mean, and which not to sum',
  description:
    'Prints the tables and views of a warehouse: as markdown to read, as JSON for tools, or as the SQL that makes ' +
    'them. Columns whose values may not be summed over days or groups are marked.',
  uses: [SETTINGS.log, SETTINGS.debug],
  flags: [{ syntax: '--format <format>', doc: 'markdown, json or sql (default: markdown)' }],
  examples: [
    { line: 'daywalk schema | less', does: 'what there is to query, with example queries' },
    {
      line: "daywalk schema --format json | jq -r '.tables[].columns[] | select(.additive == false).name'",
      does: 'the columns that may not be summed',
    },
  ],
  resultIsOutput: true,
  act: async ({ flags, out }) => {
    const reference = await import('../../../schema/reference.ts');
    const format = flags.parse('--format', oneOf(['markdown', 'json', 'sql'])) ?? 'markdown';
    if (format === 'json') out.json(reference.schemaDocument());
    else if (format === 'sql') out.print([reference.schemaSql()]);
    else out.print([reference.schemaMarkdown()]);
    return EXIT.ok;
  },
};
