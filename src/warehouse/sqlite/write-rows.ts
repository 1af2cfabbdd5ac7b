import type { AnyTable } from '../../../schema/define.ts';
import { decodedChunks } from '../../../schema/digest.ts';
import { keyOf, type TableRows, type Values } from '../../../schema/row.ts';
import type { FoundRows, GoneRows, NewRows, QueryRow } from '../../port/index.ts';
import type { DayCommit } from '../../units/index.ts';
import type { Connection } from './connection.ts';

/** Makes the rows of each day those of its commit, see `WrittenDays`. Returns how many rows were written for each. */
export function writeDays(connection: Connection, days: readonly DayCommit[]): number[] {
  return days.map(({ orgId, day, tables }) =>
    tables.reduce((sum, { table, texts }) => sum + replaceDay(connection, { table, texts }, [orgId, day]), 0),
  );
}

/**
 * Makes the rows of a day exactly those of `texts`: upserts each, then deletes the others. Each chunk of rows is decoded when it is
 * needed, so that few rows are in memory. Returns how many rows were inserted, updated or deleted; equal rows are not written.
 */
function replaceDay(
  connection: Connection,
  { table, texts }: { readonly table: AnyTable; readonly texts: readonly string[] },
  scope: readonly string[],
): number {
  const { upsert, deleteByKey, keysOfDay } = statementsOf(table);
  const key = keyOf(table);
  const stored = connection.prepareRows(keysOfDay).all(...scope);
  const gone = new Map(stored.map((stale) => [JSON.stringify(stale), stale]));
  const put = connection.prepare(upsert);
  let written = 0;
  for (const rows of decodedChunks({ texts })) {
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

/** Inserts rows whose keys are not stored. Returns how many were written. */
export function addRows(connection: Connection, { table, add }: NewRows): number {
  const insert = connection.prepare(statementsOf(table).insertNew);
  return add.reduce((written, row: Values) => written + insert.run(row).changes, 0);
}

/** Deletes rows by the first columns of their keys. Returns how many there were. */
export function removeRows(connection: Connection, { table, remove }: GoneRows): number {
  const statement = connection.prepare(deleteScope(table, table.key.slice(0, remove[0]?.length)));
  return remove.reduce((written, key: Values) => written + statement.run(key).changes, 0);
}

/** Reads rows by the first columns of their keys. */
export function findRows(connection: Connection, { table, find, columns }: FoundRows): QueryRow[] {
  const names = table.key.slice(0, find[0]?.length);
  const read = connection.prepare(selectWhere(table, [equals(names)], columns));
  return find.flatMap((key: Values) => read.all(key) as QueryRow[]);
}

/** SQL for one table, generated from its declaration; every value is bound by position. */
interface TableStatements {
  /** Inserts a row unless its key is stored. */
  readonly insertNew: string;
  /** Inserts a row, or updates it where a value differs: an unchanged row is not written. */
  readonly upsert: string;
  /** Deletes one row by its whole key. */
  readonly deleteByKey: string;
  /** The keys of the rows of a day. */
  readonly keysOfDay: string;
}

function quoted(name: string): string {
  return `"${name}"`;
}

const known = new WeakMap<AnyTable, TableStatements>();

/** The statements that write `table`. */
function statementsOf(table: AnyTable): TableStatements {
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
    insertNew: `${insert} ON CONFLICT DO NOTHING`,
    upsert: `${insert} ON CONFLICT (${table.key.map(quoted).join(', ')}) ${conflict}`,
    deleteByKey: deleteScope(table, table.key),
    keysOfDay: `SELECT ${table.key.map(quoted).join(', ')} FROM ${quoted(table.name)} WHERE ${equals(['org_id', 'date'])}`,
  };
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

/** Deletes rows by some columns. */
function deleteScope(table: AnyTable, scope: readonly string[]): string {
  return `DELETE FROM ${quoted(table.name)} WHERE ${equals(scope)}`;
}

function equals(columns: readonly string[]): string {
  return columns.map((name) => `${quoted(name)} = ?`).join(' AND ');
}
