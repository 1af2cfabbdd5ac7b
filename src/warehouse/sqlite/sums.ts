import type { AnyTable } from '../../../schema/define.ts';
import type { Connection } from './connection.ts';
import type { Scope } from './rows.ts';
import { selectSums } from './statements.ts';

/**
 * What a restatement records of a unit: its rows over all tables, the sum of each additive column of its first
 * table, the same for each further table under `breakdowns`, and the digest, which tells of changes that no sum shows.
 * As JSON text.
 */
export function sumsOf(
  connection: Connection,
  tables: readonly AnyTable[],
  scope: Scope & { readonly sha256: string | null },
): string {
  const sums = tables.map((table) => {
    const row = connection.prepare(selectSums(table, scope.columns)).get(...scope.values);
    return { name: table.name, sums: numbersOf(row) };
  });
  const [main, ...breakdowns] = sums;
  return JSON.stringify({
    ...main?.sums,
    rows: sums.reduce((total, table) => total + (table.sums['rows'] ?? 0), 0),
    content_sha256: scope.sha256,
    breakdowns: Object.fromEntries(breakdowns.map((table) => [table.name, table.sums])),
  });
}

function numbersOf(row: unknown): Record<string, number | null> {
  return typeof row === 'object' && row !== null
    ? Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? value : null]),
      )
    : {};
}
