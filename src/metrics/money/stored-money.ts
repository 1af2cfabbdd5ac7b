import type { AnyTable } from '../../../schema/define.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { encoderOf, type RowOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { QueryRow, Steps, Values } from '../../warehouse/port.ts';
import { type BudgetRow, budgetKey } from './budgets.ts';
import type { PriceRow } from './prices.ts';

/** Selects the prices of an organization, in the order of their periods. */
export function selectPrices(orgId: string): SQL {
  return sql`
    SELECT valid_from, valid_to, currency, price_per_million FROM prices
    WHERE org_id = ${orgId} ORDER BY valid_from`;
}

/** Reads a row of {@link selectPrices}. */
export function priceIn(orgId: string): (row: QueryRow) => PriceRow {
  return ({ valid_from, valid_to, currency, price_per_million }) => ({
    org_id: orgId,
    valid_from: String(valid_from),
    valid_to: typeof valid_to === 'string' ? valid_to : null,
    currency: String(currency),
    price_per_million: Number(price_per_million),
  });
}

/** Selects the budgets of an organization. */
export function selectBudgets(orgId: string): SQL {
  return sql`SELECT month, team, amount, currency FROM budgets WHERE org_id = ${orgId} ORDER BY month, team`;
}

/** Reads a row of {@link selectBudgets}. */
export function budgetIn(orgId: string): (row: QueryRow) => BudgetRow {
  return ({ month, team, amount, currency }) => ({
    org_id: orgId,
    month: String(month),
    team: String(team),
    amount: Number(amount),
    currency: String(currency),
  });
}

/** A table that a file replaces as a whole. */
export interface LoadedTable<Row extends object> {
  readonly table: AnyTable;
  encode(row: Row): Values;
  /** Selects the rows of an organization. */
  select(orgId: string): SQL;
  rowIn(orgId: string): (row: QueryRow) => Row;
  keyOf(row: Row): string;
}

export const loadedPrices: LoadedTable<RowOf<typeof tables.prices>> = {
  table: tables.prices,
  encode: encoderOf(tables.prices),
  select: selectPrices,
  rowIn: priceIn,
  keyOf: ({ valid_from }) => valid_from,
};

export const loadedBudgets: LoadedTable<RowOf<typeof tables.budgets>> = {
  table: tables.budgets,
  encode: encoderOf(tables.budgets),
  select: selectBudgets,
  rowIn: budgetIn,
  keyOf: budgetKey,
};

/** Replaces the rows of an organization. Writes nothing in a dry run, and nothing if they are stored already. */
export function* replaceRows<Row extends object>(
  loaded: LoadedTable<Row>,
  rows: readonly Row[],
  { orgId, isDryRun }: { readonly orgId: string; readonly isDryRun: boolean },
): Steps<Changes<Row>> {
  const stored = yield loaded.select(orgId);
  const changes = changesBetween(stored.map(loaded.rowIn(orgId)), rows, loaded.keyOf);
  if (isDryRun || changes.changes.length === 0) return changes;
  yield sql`DELETE FROM ${sql.identifier(loaded.table.name)} WHERE org_id = ${orgId}`;
  yield { table: loaded.table, rows: rows.map(loaded.encode) };
  return changes;
}

/** A row that a load has added, removed or changed. */
export interface Change<Row> {
  /** Null if it was added. */
  readonly before: Row | null;
  /** Null if it was removed. */
  readonly after: Row | null;
}

/** What differs between the rows stored before and those loaded now. */
export interface Changes<Row> {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly unchanged: number;
  /** In the order of their keys. */
  readonly changes: readonly Change<Row>[];
}

/** Compares two lists of rows. Rows of the same key are one row before and after. */
export function changesBetween<Row extends object>(
  before: readonly Row[],
  after: readonly Row[],
  keyOf: (row: Row) => string,
): Changes<Row> {
  const old = new Map(before.map((row) => [keyOf(row), row]));
  const loaded = new Map(after.map((row) => [keyOf(row), row]));
  const counts = { added: 0, removed: 0, changed: 0, unchanged: 0 };
  const changes: Change<Row>[] = [];
  for (const key of [...new Set([...old.keys(), ...loaded.keys()])].toSorted()) {
    const change = { before: old.get(key) ?? null, after: loaded.get(key) ?? null };
    const kind = kindOf(change);
    counts[kind] += 1;
    if (kind !== 'unchanged') changes.push(change);
  }
  return { ...counts, changes };
}

function kindOf<Row extends object>({
  before,
  after,
}: Change<Row>): 'added' | 'removed' | 'changed' | 'unchanged' {
  if (before === null) return 'added';
  if (after === null) return 'removed';
  return JSON.stringify(sorted(before)) === JSON.stringify(sorted(after)) ? 'unchanged' : 'changed';
}

function sorted(row: object): [string, unknown][] {
  return Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
