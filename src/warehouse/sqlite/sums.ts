import type { AnyTable } from '../../../schema/define.ts';
import { restatementText } from '../restatement.ts';
import type { Connection } from './connection.ts';
import type { Scope } from './rows.ts';
import { selectSums } from './statements.ts';

/** Computes the text that a restatement stores for the rows of a unit, see {@link restatementText}. */
export function sumsOf(
  connection: Connection,
  tables: readonly AnyTable[],
  scope: Scope & { readonly sha256: string | null },
): string {
  const sums = tables.map((table) => {
    const row = connection.prepare(selectSums(table, scope.columns)).get(...scope.values);
    return { name: table.name, sums: numbersOf(row) };
  });
  return restatementText(sums, scope.sha256);
}

function numbersOf(row: unknown): Record<string, number | null> {
  return typeof row === 'object' && row !== null
    ? Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? value : null]),
      )
    : {};
}
