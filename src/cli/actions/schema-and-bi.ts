import { resolve } from 'node:path';
import { schemaDocument, schemaMarkdown } from '../../../schema/reference/documentation.ts';
import { DATABASES, DISTRIBUTIONS, schemaSql } from '../../../schema/reference/sql.ts';
import { type BiReport, writeBi } from '../../bi/index.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { oneOf } from '../../settings/index.ts';
import type { Action, Flags } from '../program/command.ts';
import { counted } from '../screens/numbers.ts';
import { escapeForTerminal } from '../screens/text.ts';

export const schemaAction: Action = async ({ flags, out }) => {
  const format = flags.parse('--format', oneOf(['markdown', 'json', 'sql'])) ?? 'markdown';
  if (format === 'sql') out.print([sqlFor(flags)]);
  else {
    refuseSqlFlags(format, flags);
    if (format === 'json') out.json(schemaDocument());
    else out.print([schemaMarkdown()]);
  }
  return EXIT.ok;
};

function sqlFor(flags: Flags): string {
  const database = flags.parse('--database', oneOf(DATABASES));
  const distribution = flags.parse('--distributed', oneOf(DISTRIBUTIONS));
  const layout = flags.isOn('--partitioned') ? 'partitioned' : distribution;
  if (layout !== (distribution ?? layout) || (layout !== undefined && database === 'sqlite')) {
    throw new UsageError('only tables of PostgreSQL can be distributed or partitioned, and not both', {
      hint: 'give one of --distributed and --partitioned, without --database or with --database postgres',
    });
  }
  return schemaSql(database ?? (layout === undefined ? 'sqlite' : 'postgres'), layout);
}

function refuseSqlFlags(format: string, flags: Flags): void {
  for (const flag of ['--database', '--distributed', '--partitioned'] as const) {
    if (flags.text(flag) === undefined && !flags.isOn(flag)) continue;
    throw new UsageError(`${flag} has no effect with --format ${format}`, { hint: 'add --format sql' });
  }
}

export const biAction: Action = async ({ flags, operands, out, directory }) => {
  const [target = ''] = operands;
  const folder = flags.text('--out');
  if (folder === undefined || folder.trim() === '') {
    throw new UsageError('--out is empty', { hint: 'name a folder' });
  }
  const report = await writeBi({ target, directory: resolve(directory, folder) });
  out.show(report, () => renderBi(report));
  return EXIT.ok;
};

/** Draws what was written, and what to do next. */
function renderBi({ directory, files, written, unchanged, removed, next_steps }: BiReport): string[] {
  return [
    `${escapeForTerminal(directory)}: ${counted(files, 'file')}, ${written} written, ${unchanged} unchanged, ${removed} removed`,
    ...next_steps.map((step, index) => `${index + 1}. ${escapeForTerminal(step)}`),
  ];
}
