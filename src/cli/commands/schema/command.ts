import { UsageError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { oneOf } from '../../../settings/parsers/choice.ts';
import { SETTINGS } from '../../../settings/settings-table.ts';
import type { Flags } from '../../arguments/flags.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk schema`: the tables and views of a warehouse. */
export const schema: Command = {
  name: 'schema',
  summary: 'tables and views, what columns mean, and which not to sum',
  description:
    'Prints the tables and views of a warehouse: as markdown to read, as JSON for tools, or as the SQL that makes ' +
    'them. Columns whose values may not be summed over days or groups are marked.',
  uses: [SETTINGS.log, SETTINGS.debug],
  flags: [
    { syntax: '--format <format>', doc: 'markdown, json or sql (default: markdown)' },
    {
      syntax: '--database <database>',
      doc: 'with --format sql: sqlite or postgres (default: sqlite; postgres with --distributed)',
    },
    {
      syntax: '--distributed <extension>',
      doc: 'with --format sql: citus adds what spreads the tables over several servers by organization',
    },
  ],
  examples: [
    { line: 'daywalk schema | less', does: 'what there is to query, with example queries' },
    {
      line: "daywalk schema --format json | jq -r '.tables[].columns[] | select(.additive == false).name'",
      does: 'the columns that may not be summed',
    },
    {
      line: 'daywalk schema --format sql --distributed citus | psql -v ON_ERROR_STOP=1 "$URL"',
      does: 'an empty warehouse that is spread over the servers of a Citus cluster',
    },
  ],
  resultIsOutput: true,
  act: async ({ flags, out }) => {
    const reference = await import('../../../../schema/reference.ts');
    const format = flags.parse('--format', oneOf(['markdown', 'json', 'sql'])) ?? 'markdown';
    const database = flags.parse('--database', oneOf(reference.DATABASES));
    const distribution = flags.parse('--distributed', oneOf(reference.DISTRIBUTIONS));
    if (format === 'sql') {
      if (distribution !== undefined && database === 'sqlite') {
        throw new UsageError('SQLite cannot be distributed', {
          hint: 'leave --database out, or give --database postgres',
        });
      }
      const isDistributed = distribution !== undefined;
      out.print([reference.schemaSql(database ?? (isDistributed ? 'postgres' : 'sqlite'), distribution)]);
      return EXIT.ok;
    }
    refuseFor(format, flags);
    if (format === 'json') out.json(reference.schemaDocument());
    else out.print([reference.schemaMarkdown()]);
    return EXIT.ok;
  },
};

/** Flags that only choose statements say nothing about what is not statements. */
function refuseFor(format: string, flags: Flags): void {
  for (const flag of ['--database', '--distributed'] as const) {
    if (flags.text(flag) === undefined) continue;
    throw new UsageError(`${flag} chooses statements, and --format ${format} prints none`, {
      hint: 'add --format sql',
    });
  }
}
