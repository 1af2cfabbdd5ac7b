import type { AnyTable } from '../../../schema/define.ts';
import { keyPositions } from '../../../schema/order.ts';
import type { Row, RowChanges, TableRows } from '../port.ts';
import { copyText } from './copy-text.ts';
import type { Link, Parameter } from './link.ts';
import { columnList, deleteByKeys, quoted, unnested, upsertFrom } from './statements.ts';

/** From so many rows on, COPY into a temporary table is faster than arrays as parameters. */
const COPY_ROWS_MIN = 200;

/** Inserts rows, or updates those that differ. Each key may occur once. Answers how many were written. */
export async function putRows(link: Link, { table, rows }: TableRows): Promise<number> {
  if (rows.length === 0) return 0;
  return rows.length < COPY_ROWS_MIN ? putArrays(link, table, rows) : putCopied(link, table, rows);
}

/** Deletes rows by their keys. Answers how many there were. */
export async function removeRows(link: Link, { table, rows }: TableRows): Promise<number> {
  if (rows.length === 0) return 0;
  return link.execute(deleteByKeys(table), columnsOf(rows, keyPositions(table)));
}

/** Writes and removes rows as they are, see `Warehouse.change`. Call inside a transaction. */
export async function changeRows(link: Link, { put, remove }: RowChanges): Promise<number> {
  let written = 0;
  for (const rows of remove) written += await removeRows(link, rows);
  for (const rows of put) written += await putRows(link, rows);
  return written;
}

function putArrays(link: Link, table: AnyTable, rows: readonly Row[]): Promise<number> {
  const columns = Object.keys(table.columns);
  const positions = columns.map((_, index) => index);
  return link.execute(
    upsertFrom(table, `SELECT * FROM ${unnested(table, columns)}`),
    columnsOf(rows, positions),
  );
}

async function putCopied(link: Link, table: AnyTable, rows: readonly Row[]): Promise<number> {
  const staged = `pg_temp.${quoted(`staged_${table.name}`)}`;
  // Lives as long as the session; no transaction leaves rows in it.
  await link.script(
    `CREATE TEMPORARY TABLE IF NOT EXISTS ${quoted(`staged_${table.name}`)} (LIKE ${quoted(table.name)}) ON COMMIT DELETE ROWS`,
  );
  await link.copyIn(`COPY ${staged} (${columnList(table)}) FROM STDIN`, copyText(rows));
  const written = await link.execute(upsertFrom(table, `SELECT ${columnList(table)} FROM ${staged}`));
  await link.script(`TRUNCATE ${staged}`);
  return written;
}

function columnsOf(rows: readonly Row[], positions: readonly number[]): Parameter[] {
  return positions.map((position) => rows.map((row) => row[position] ?? null));
}
