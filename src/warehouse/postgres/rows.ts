import type { AnyTable } from '../../../schema/define.ts';
import { keyOf } from '../../../schema/row.ts';
import type { RowChanges, TableRows, Value, Values } from '../port.ts';
import { COPY_OPTIONS, csvOf } from './copy-csv.ts';
import type { Link, Parameter } from './link.ts';
import {
  columnList,
  deleteByKey,
  deleteByKeys,
  quoted,
  rowsFromArrays,
  tableIn,
  upsertFrom,
} from './statements.ts';

/** From this many rows on, COPY is faster than arrays as parameters. */
const COPY_ROWS_MIN = 800;

/** A statement that writes rows, and its parameters. */
interface Writing {
  readonly sql: string;
  readonly values: readonly Parameter[];
}

/** Rows of one table to insert or update. */
export interface Puttable {
  readonly table: AnyTable;
  readonly count: number;
  /** The rows, for a small number of them. */
  rows(): readonly Values[];
  /** The rows in the format of COPY, for a large number of them. */
  csv(): Iterable<string>;
}

/** Inserts rows, or updates those that differ. Each key may occur once. Returns how many were written. */
export async function putRows(link: Link, { table, rows }: TableRows): Promise<number> {
  return put(link, { table, count: rows.length, rows: () => rows, csv: () => csvOf(rows) });
}

/** As {@link putRows}, for rows that are produced on demand. */
export async function put(link: Link, part: Puttable): Promise<number> {
  if (part.count === 0) return 0;
  const { sql, values } = await upsert(link, part);
  const [column = ''] = part.table.key;
  // Counts the returned rows, because Citus reports the number of rows sent instead of the number written.
  return (await link.query(`${sql} RETURNING stored.${quoted(column)}`, values)).length;
}

/** As {@link put}, for rows of several days: returns the day of each row that was written. */
export async function putDays(link: Link, part: Puttable): Promise<string[]> {
  if (part.count === 0) return [];
  const { sql, values } = await upsert(link, part);
  return daysOf(await link.query(`${sql} RETURNING stored."date"`, values));
}

/** Deletes rows by their keys, the values of the key columns in order. Returns how many there were. */
export async function removeKeys(link: Link, table: AnyTable, keys: readonly Values[]): Promise<number> {
  let removed = 0;
  for (const { sql, values } of deletions(link, table, keys)) removed += await link.execute(sql, values);
  return removed;
}

/** As {@link removeKeys}, for rows of several days: returns the day of each row that was there. */
export async function removeDays(link: Link, table: AnyTable, keys: readonly Values[]): Promise<string[]> {
  const days: string[] = [];
  for (const { sql, values } of deletions(link, table, keys)) {
    days.push(...daysOf(await link.query(`${sql} RETURNING stored."date"`, values)));
  }
  return days;
}

/** Writes and removes rows as they are, see `Warehouse.change`. Call inside a transaction. */
export async function changeRows(link: Link, { put, remove }: RowChanges): Promise<number> {
  let written = 0;
  for (const { table, rows } of remove) written += await removeKeys(link, table, rows.map(keyOf(table)));
  for (const part of put) written += await putRows(link, part);
  return written;
}

/** The parameters of {@link rowsFromArrays}: one array per column. All rows have the same number of values. */
export function arraysOf(rows: readonly Values[]): Parameter[] {
  return (rows[0] ?? []).map((_, position) => rows.map((row) => row[position] ?? null));
}

/** True if COPY is faster than arrays as parameters. */
export function isWorthCopying({ count }: Puttable): boolean {
  return count >= COPY_ROWS_MIN;
}

/** True if PostgreSQL allows COPY into the table. It refuses COPY if row policies apply. */
export async function isOpenToCopies(link: Link, table: AnyTable): Promise<boolean> {
  const { name } = table;
  const known = link.policies.get(name);
  if (known !== undefined) return !known;
  const [row] = await link.query('SELECT row_security_active($1::text)', [tableIn(link, table)]);
  const hasPolicies = row?.[0] === 1;
  link.policies.set(name, hasPolicies);
  return !hasPolicies;
}

/** Copies rows of which none is stored. Takes less than half the time of {@link put}. */
export function copyRows(link: Link, { table, csv }: Puttable): Promise<void> {
  return link.copyIn(`COPY ${tableIn(link, table)} (${columnList(table)}) FROM STDIN ${COPY_OPTIONS}`, csv());
}

async function upsert(link: Link, part: Puttable): Promise<Writing> {
  const { table } = part;
  if (isWorthCopying(part)) return { sql: await stage(link, table, part.csv()), values: [] };
  return {
    sql: upsertFrom(link, table, rowsFromArrays(table)),
    values: arraysOf(part.rows()),
  };
}

/** Copies rows into a temporary table; returns the statement that takes them from there. */
async function stage(link: Link, table: AnyTable, csv: Iterable<string>): Promise<string> {
  const staged = quoted(`staged_${table.name}`);
  // The table exists for the whole session. Its rows exist until the transaction ends or uses the table again.
  const isUsed = link.staged.has(table.name);
  link.staged.add(table.name);
  await link.script(
    isUsed
      ? `TRUNCATE pg_temp.${staged}`
      : `CREATE TEMPORARY TABLE IF NOT EXISTS pg_temp.${staged} (LIKE ${tableIn(link, table)}) ON COMMIT DELETE ROWS`,
  );
  await link.copyIn(`COPY pg_temp.${staged} (${columnList(table)}) FROM STDIN ${COPY_OPTIONS}`, csv);
  return upsertFrom(link, table, `SELECT ${columnList(table)} FROM pg_temp.${staged}`);
}

/** One statement per organization, whose keys share their first value. */
function deletions(link: Link, table: AnyTable, keys: readonly Values[]): Writing[] {
  if (keys.length === 0) return [];
  const [column = '', ...others] = table.key;
  if (others.length === 0) return [{ sql: deleteByKey(link, table, column), values: arraysOf(keys) }];
  const sql = deleteByKeys(link, table);
  const orgs = new Map<Value, Values[]>();
  for (const [org = null, ...rest] of keys) {
    const own = orgs.get(org);
    if (own === undefined) orgs.set(org, [rest]);
    else own.push(rest);
  }
  return [...orgs].map(([org, own]) => ({ sql, values: [...arraysOf(own), org] }));
}

function daysOf(rows: readonly Values[]): string[] {
  return rows.map(([day]) => String(day));
}
