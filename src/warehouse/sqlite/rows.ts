import type { AnyTable } from '../../../schema/define.ts';
import { keyOf } from '../../../schema/row.ts';
import type { RowChanges, TableRows, Values } from '../port.ts';
import type { Connection } from './connection.ts';

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

/** SQL for one table, generated from its declaration; every value is bound by position. */
export interface TableStatements {
  /** Inserts a row. A clause for conflicts may follow. */
  readonly insert: string;
  /** Inserts a row, or updates it where a value differs: an unchanged row is not written. */
  readonly upsert: string;
  /** Deletes one row by its whole key. */
  readonly deleteByKey: string;
}

function quoted(name: string): string {
  return `"${name}"`;
}

const known = new WeakMap<AnyTable, TableStatements>();

/** The statements that write `table`. */
export function statementsOf(table: AnyTable): TableStatements {
  const statements = known.get(table) ?? generate(table);
  known.set(table, statements);
  return statements;
}

function generate(table: AnyTable): TableStatements {
  const names = Object.keys(table.columns);
  const values = names.filter((name) => !table.key.includes(name)).map(quoted);
  const assignments = values.map((name) => `${name} = excluded.${name}`).join(', ');
  const differs = values.map((name) => `${quoted(table.name)}.${name} IS NOT excluded.${name}`).join(' OR ');
  const conflict = values.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${assignments} WHERE ${differs}`;
  const columns = names.map(quoted).join(', ');
  const insert = `INSERT INTO ${quoted(table.name)} (${columns}) VALUES (${names.map(() => '?').join(', ')})`;
  return {
    insert,
    upsert: `${insert} ON CONFLICT (${table.key.map(quoted).join(', ')}) ${conflict}`,
    deleteByKey: `DELETE FROM ${quoted(table.name)} WHERE ${equals(table.key)}`,
  };
}

/** The keys of the rows in a scope, as rows of key values. */
export function selectKeys(table: AnyTable, scope: readonly string[]): string {
  return `SELECT ${table.key.map(quoted).join(', ')} FROM ${quoted(table.name)} WHERE ${equals(scope)}`;
}

/** Every column of the rows in a scope, in key order. */
export function selectRows(table: AnyTable, scope: readonly string[]): string {
  return selectWhere(table, [equals(scope)]);
}

/** Selects columns, by default all, of the rows that meet all conditions, in key order. */
export function selectWhere(
  table: AnyTable,
  conditions: readonly string[],
  columns: readonly string[] = Object.keys(table.columns),
): string {
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const names = columns.map(quoted).join(', ');
  return `SELECT ${names} FROM ${quoted(table.name)}${where} ORDER BY ${table.key.map(quoted).join(', ')}`;
}

/** Number of rows and the sum of each additive column in a scope; TOTAL, because SUM fails on huge integers. */
export function selectSums(table: AnyTable, scope: readonly string[]): string {
  const sums = Object.entries(table.columns)
    .filter(([, column]) => column.additive === true)
    .map(
      ([name]) => `, CASE WHEN COUNT(${quoted(name)}) > 0 THEN TOTAL(${quoted(name)}) END AS ${quoted(name)}`,
    );
  return `SELECT COUNT(*) AS "rows"${sums.join('')} FROM ${quoted(table.name)} WHERE ${equals(scope)}`;
}

/** Deletes the rows in a scope. */
export function deleteScope(table: AnyTable, scope: readonly string[]): string {
  return `DELETE FROM ${quoted(table.name)} WHERE ${equals(scope)}`;
}

function equals(columns: readonly string[]): string {
  return columns.map((name) => `${quoted(name)} = ?`).join(' AND ');
}
