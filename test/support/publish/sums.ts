import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { sql } from '../../../schema/query.ts';
import { publishedTables } from '../../../schema/tables.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { isClose } from '../bi/equal-rows.ts';

/** The ledger has no day for readiness, and an organization may have no ID: '' there, NULL in a lake. */
export const withoutLedger = publishedTables.filter(({ role }) => role !== 'ledger');

const ADDED: ReadonlySet<ColumnKind> = new Set(['metric', 'amount', 'integer', 'count']);

/** One row about a table: its rows, the sum of each number, and the distinct values of its first text or day. */
export function sumsOf({ name, columns }: AnyTable): string {
  const numbers = Object.keys(columns).filter((column) => ADDED.has(columns[column]?.kind ?? 'label'));
  const keys = Object.keys(columns).filter(
    (column) => columns[column]?.kind === 'key' && column !== 'org_id',
  );
  const parts = ['COUNT(*)', ...numbers.map((column) => `SUM(${column})`)];
  return `SELECT ${[...parts, ...keys.map((column) => `COUNT(DISTINCT ${column})`)].join(', ')} FROM ${name}`;
}

/** {@link sumsOf} with a name for each column, because a driver returns rows as objects. */
function namedSums(table: AnyTable): string {
  let index = 0;
  return sumsOf(table).replaceAll(/((?:COUNT|SUM)\([^)]*\))/g, (part) => `${part} AS c${index++}`);
}

/** Sums of whole numbers are exact in any order; only fractions may differ by rounding. */
function isEqual(stored: unknown, read: unknown): boolean {
  return Number.isInteger(stored) ? stored === read : isClose(stored, read);
}

/** The tables whose row of {@link sumsOf}, as another program has it, differs from that of the warehouse. */
export async function differentTables(
  warehouse: Pick<Warehouse, 'select'>,
  answers: Readonly<Record<string, readonly (readonly unknown[])[]>>,
): Promise<string[]> {
  const found: string[] = [];
  for (const table of withoutLedger) {
    const [row = {}] = await warehouse.select(sql.raw(namedSums(table)));
    const stored = Object.values(row);
    const read = answers[table.name]?.[0] ?? [];
    const isSame =
      stored.length === read.length && stored.every((value, index) => isEqual(value, read[index]));
    if (!isSame) found.push(`${table.name}: ${read.join()} instead of ${stored.join()}`);
  }
  return found;
}
