import {
  DATABASES,
  DISTRIBUTIONS,
  schemaDocument,
  schemaMarkdown,
  schemaSql,
} from '../../../../schema/reference.ts';
import { UsageError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { oneOf } from '../../../settings/parsers/choice.ts';
import type { Flags } from '../../arguments/flags.ts';
import type { Action } from '../../program/command.ts';

export const act: Action = async ({ flags, out }) => {
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
  if (distribution !== undefined && database === 'sqlite') {
    throw new UsageError('SQLite cannot be distributed', {
      hint: 'omit --database, or give --database postgres',
    });
  }
  return schemaSql(database ?? (distribution === undefined ? 'sqlite' : 'postgres'), distribution);
}

function refuseSqlFlags(format: string, flags: Flags): void {
  for (const flag of ['--database', '--distributed'] as const) {
    if (flags.text(flag) === undefined) continue;
    throw new UsageError(`${flag} has no effect with --format ${format}`, { hint: 'add --format sql' });
  }
}
