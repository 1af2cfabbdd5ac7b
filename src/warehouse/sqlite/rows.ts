import type { AnyTable } from '../../../schema/define.ts';
import { keyPositions } from '../../../schema/order.ts';
import type { Row, RowChanges, TableRows } from '../port.ts';
import type { Connection } from './connection.ts';
import { selectKeys, statementsOf } from './statements.ts';
import { atOnce, type Steps } from './steps.ts';

/** Rows of a table that belong together, named by the first columns of its key and their values. */
export interface Scope {
  readonly columns: readonly string[];
  readonly values: readonly string[];
}

/** Rows of one table, some at a time; the order of the columns and of the rows is that of {@link TableRows}. */
export interface RowChunks {
  readonly table: AnyTable;
  readonly chunks: Iterable<readonly Row[]>;
}

/**
 * Makes the rows of a scope exactly `rows`: upserts each, then deletes what is no longer among them, also when
 * `rows` is empty. Returns how many rows were inserted, updated or deleted; rows that are the same are not written.
 */
export function replaceScope(connection: Connection, { table, rows }: TableRows, scope: Scope): number {
  return atOnce(replaceScopeInSteps(connection, { table, chunks: [rows] }, scope));
}

/** As {@link replaceScope}, a chunk in each step. */
export function* replaceScopeInSteps(
  connection: Connection,
  { table, chunks }: RowChunks,
  scope: Scope,
): Steps<number> {
  const { upsert, deleteByKey } = statementsOf(table);
  const positions = keyPositions(table);
  const stored = connection.prepareRows(selectKeys(table, scope.columns)).all(...scope.values);
  const gone = new Map(stored.map((key) => [JSON.stringify(key), key]));
  const put = connection.prepare(upsert);
  let written = 0;
  let isFirst = true;
  for (const rows of chunks) {
    // A few rows are no step of their own: many small days are written together.
    if (!isFirst) yield;
    isFirst = false;
    for (const row of rows) written += put.run(row).changes;
    if (gone.size > 0) {
      for (const row of rows) gone.delete(JSON.stringify(positions.map((position) => row[position])));
    }
  }
  const remove = connection.prepare(deleteByKey);
  for (const key of gone.values()) written += remove.run(key as Row).changes;
  return written;
}

/** Inserts rows, or updates those that differ. Returns how many were written. */
export function putRows(connection: Connection, { table, rows }: TableRows): number {
  const put = connection.prepare(statementsOf(table).upsert);
  return rows.reduce((written, row: Row) => written + put.run(row).changes, 0);
}

/** Writes and removes rows as they are, see `Warehouse.change`. Call inside a transaction. */
export function changeRows(connection: Connection, { put, remove }: RowChanges): number {
  const removed = remove.reduce((sum, { table, rows }) => {
    const positions = keyPositions(table);
    const statement = connection.prepare(statementsOf(table).deleteByKey);
    return rows.reduce(
      (written, row) => written + statement.run(positions.map((position) => row[position])).changes,
      sum,
    );
  }, 0);
  return put.reduce((written, rows) => written + putRows(connection, rows), removed);
}
