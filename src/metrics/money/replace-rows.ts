import type { AnyTable } from '../../../schema/define.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { encoderOf, type RowOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { QueryRow, Steps, Values } from '../../warehouse/port.ts';
import { budgetKey } from './budgets-file.ts';
import { type Changes, changesBetween } from './changes.ts';
import { budgetIn, priceIn, selectBudgets, selectPrices } from './stored-money.ts';

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
