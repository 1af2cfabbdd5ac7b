import type { AnyTable } from '../../../schema/define.ts';
import { keyOf } from '../../../schema/row.ts';
import type { RowChanges, TableRows, Values } from '../port.ts';
import type { Connection } from './connection.ts';
import { selectKeys, statementsOf } from './statements.ts';

/** Rows of a table that belong together, named by the first columns of its key and their values. */
export interface Scope {
  readonly columns: readonly string[];
  readonly values: readonly string[];
}

/** Rows of one table, some at a time, so that few are in memory; ordered as in {@link TableRows}. */
export interface RowChunks {
  readonly table: AnyTable;
  readonly chunks: Iterable<readonly Values[]>;
}

/**
 * Makes the rows of a scope exactly those of `chunks`: upserts each, then deletes the others. Returns how many rows
 * were inserted, updated or deleted; equal rows are not written.
 */
export function replaceScope(connection: Connection, { table, chunks }: RowChunks, scope: Scope): number {
  const { upsert, deleteByKey } = statementsOf(table);
  const key = keyOf(table);
  const stored = connection.prepareRows(selectKeys(table, scope.columns)).all(...scope.values);
  const gone = new Map(stored.map((stale) => [JSON.stringify(stale), stale]));
  const put = connection.prepare(upsert);
  let written = 0;
  for (const rows of chunks) {
    for (const row of rows) written += put.run(row).changes;
    if (gone.size > 0) {
      for (const row of rows) gone.delete(JSON.stringify(key(row)));
    }
  }
  const remove = connection.prepare(deleteByKey);
  for (const stale of gone.values()) written += remove.run(stale as Values).changes;
  return written;
}

/** Inserts rows, or updates those that differ. Returns how many were written. */
export function putRows(connection: Connection, { table, rows }: TableRows): number {
  const put = connection.prepare(statementsOf(table).upsert);
  return rows.reduce((written, row: Values) => written + put.run(row).changes, 0);
}

/** Writes and removes rows as they are, see `Warehouse.change`. Call inside a transaction. */
export function changeRows(connection: Connection, { put, remove }: RowChanges): number {
  const removed = remove.reduce((sum, { table, rows }) => {
    const key = keyOf(table);
    const statement = connection.prepare(statementsOf(table).deleteByKey);
    return rows.reduce((written, row) => written + statement.run(key(row)).changes, sum);
  }, 0);
  return put.reduce((written, rows) => written + putRows(connection, rows), removed);
}
