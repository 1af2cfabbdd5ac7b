import pg from 'pg';
import { type AnyTable, KINDS } from '../../../schema/define.ts';
import { decodedChunks, type EncodedRows } from '../../../schema/digest.ts';
import { byKey, keyOf, type TableRows, type Value, type Values } from '../../../schema/row.ts';
import type { FoundRows, GoneRows, NewRows, QueryRow } from '../../port/index.ts';
import type { Link, Parameter } from './link.ts';

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
  const part = { table, count: rows.length, rows: () => rows, csv: () => csvOf(rows) };
  if (!isWorthCopying(part) || !(await isFree(link, table, rows)) || !(await isOpenToCopies(link, table)))
    return put(link, part);
  // Another worker may store one of the keys meanwhile: that is a conflict, and the transaction begins again.
  await copyRows(link, part);
  return rows.length;
}

/** True if no row is stored from the first to the last key of rows. The order of keys makes the server ask the index. */
async function isFree(link: Link, table: AnyTable, rows: readonly Values[]): Promise<boolean> {
  const compare = byKey(table);
  const first = rows.reduce((least, row) => (compare(row, least) < 0 ? row : least));
  const last = rows.reduce((most, row) => (compare(row, most) > 0 ? row : most));
  const values: Value[] = [];
  const conditions = Object.entries({ '>=': first, '<=': last }).map(([operator, row]) => {
    const key = keyOf(table)(row).map((value) => `$${values.push(value)}`);
    return `(${keyList(table)}) ${operator} (${key.join(', ')})`;
  });
  const stored = await link.query(`${selectWhere(link, table, conditions, table.key)} LIMIT 1`, values);
  return stored.length === 0;
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

/** Inserts rows whose keys are not stored. Returns how many were written. */
export async function addRows(link: Link, { table, add }: NewRows): Promise<number> {
  if (add.length === 0) return 0;
  const written = await link.query(
    `INSERT INTO ${tableIn(link, table)} (${columnList(table)}) ${rowsFromArrays(table)} ` +
      `ON CONFLICT DO NOTHING RETURNING ${quoted(table.key[0] ?? '')}`,
    arraysOf(add),
  );
  // Counts the returned rows, because Citus reports the number of rows sent instead of the number written.
  return written.length;
}

/** Reads rows by the first columns of their keys. */
export async function findRows(link: Link, { table, find, columns }: FoundRows): Promise<QueryRow[]> {
  const [first = []] = find;
  const [name = '', ...others] = table.key.slice(0, first.length);
  const names = others.map(quoted).join(', ');
  const conditions = [
    `${quoted(name)} = $${others.length + 1}`,
    ...(others.length === 0 ? [] : [`(${names}) IN (${rowsFromArrays(table, others)})`]),
  ];
  const values = [...arraysOf(find).slice(1), first[0] ?? null];
  return link.named(selectWhere(link, table, conditions, columns), values);
}

/** Deletes rows by the first columns of their keys. Returns how many there were. */
export async function removeRows(link: Link, { table, remove }: GoneRows): Promise<number> {
  let removed = 0;
  for (const { sql, values } of deletions(link, table, remove)) removed += await link.execute(sql, values);
  return removed;
}

/** As {@link removeRows}, for rows of several days: returns the day of each row that was there. */
export async function removeDays(link: Link, table: AnyTable, keys: readonly Values[]): Promise<string[]> {
  const days: string[] = [];
  for (const { sql, values } of deletions(link, table, keys)) {
    days.push(...daysOf(await link.query(`${sql} RETURNING stored."date"`, values)));
  }
  return days;
}

/** The parameters of {@link rowsFromArrays}: one array per column. All rows have the same number of values. */
function arraysOf(rows: readonly Values[]): Parameter[] {
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
  const names = table.key.slice(0, keys[0]?.length);
  const [column = '', ...others] = names;
  if (others.length === 0) return [{ sql: deleteByKey(link, table, column), values: arraysOf(keys) }];
  const sql = deleteByKeys(link, table, names);
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

/** The options of COPY for the lists of values below: JSON's `null` stands for NULL. */
const COPY_OPTIONS = "(FORMAT csv, NULL 'null')";

/** How many rows share a chunk. Larger chunks cost memory, smaller ones time. */
const CHUNK_ROWS = 500;

/** Rows as COPY reads them, in chunks. */
export function* csvOf(rows: readonly Values[]): Generator<string, void, void> {
  for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
    const chunk = rows.slice(start, start + CHUNK_ROWS);
    const first = chunk[0]?.[0] ?? null;
    const shared = chunk.every(([value]) => value === first) ? first : null;
    yield csvOfText(JSON.stringify(chunk), shared) ?? linesOf(chunk);
  }
}

/** As {@link csvOf}, for the encoded rows of one organization. */
export function* csvOfEncoded(
  { texts }: Pick<EncodedRows, 'texts'>,
  orgId: string,
): Generator<string, void, void> {
  for (const text of texts)
    yield csvOfText(text, orgId) ?? linesOf([...decodedChunks({ texts: [text] })].flat());
}

/**
 * The lines of a JSON array of rows that begin with the same ID. A JSON list of values differs from a line of CSV only in its
 * brackets and escapes. So a text without a backslash, the usual case, only loses its brackets; of any other, undefined is
 * returned. That takes a quarter of the time of writing value by value.
 */
function csvOfText(text: string, first: Value): string | undefined {
  // `],[` and the ID in quotes occur together only between two rows. Inside a text, the first quote of the ID would be
  // escaped, or would end the text; then a comma follows, and the ID does not begin with one.
  if (typeof first !== 'string' || first.startsWith(',') || text.includes('\\')) return undefined;
  const begin = `${JSON.stringify(first)},`;
  return `${text.slice(2, -2).replaceAll(`],[${begin}`, () => `\n${begin}`)}\n`;
}

function linesOf(rows: readonly Values[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('');
}

function field(value: Value): string {
  return typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(value);
}

interface InSchema {
  /** The name of the schema, unquoted. */
  readonly schema: string;
}

/**
 * The name of a table with its schema. Without the schema, a name could mean a temporary table or one of another
 * schema.
 */
export function tableIn({ schema }: InSchema, { name }: Pick<AnyTable, 'name'>): string {
  return `${pg.escapeIdentifier(schema)}.${quoted(name)}`;
}

/** Quotes a name. The names of tables and columns come from our declarations. */
export function quoted(name: string): string {
  return `"${name}"`;
}

/** The columns of a table, for a list in SQL. */
function columnList(table: AnyTable): string {
  return Object.keys(table.columns).map(quoted).join(', ');
}

/** The columns of the key of a table, in order. */
export function keyList(table: AnyTable): string {
  return table.key.map(quoted).join(', ');
}

/** The PostgreSQL type of a column. */
function typeOf(table: AnyTable, column: string): string {
  const kind = table.columns[column]?.kind;
  if (kind === undefined) throw new TypeError(`${table.name} has no column ${column}`);
  return KINDS[kind].postgres;
}

/** Inserts the rows of `source`, or updates those that differ: an unchanged row is not written. */
export function upsertFrom(within: InSchema, table: AnyTable, source: string): string {
  const values = Object.keys(table.columns).filter((name) => !table.key.includes(name));
  const assignments = values.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ');
  const differs = values.map((name) => columnDiffers(table, name)).join(' OR ');
  const conflict = values.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${assignments} WHERE ${differs}`;
  return (
    `INSERT INTO ${tableIn(within, table)} AS stored (${columnList(table)}) ${source} ` +
    `ON CONFLICT (${keyList(table)}) ${conflict}`
  );
}

/** `json` keeps the text and has no equality operator. */
function columnDiffers(table: AnyTable, column: string): string {
  const cast = typeOf(table, column) === 'json' ? '::text' : '';
  return `stored.${quoted(column)}${cast} IS DISTINCT FROM excluded.${quoted(column)}${cast}`;
}

/**
 * Rows from parameters, one array per column. In the select list this takes half the time of a join. The function is
 * named with its schema, because the warehouse's schema could hold another one for exactly these arrays.
 */
function rowsFromArrays(table: AnyTable, columns: readonly string[] = Object.keys(table.columns)): string {
  const lists = columns.map(
    (name, index) => `pg_catalog.unnest($${index + 1}::${typeOf(table, name)}[]) AS ${quoted(name)}`,
  );
  return `SELECT ${lists.join(', ')}`;
}

/**
 * Deletes rows of one organization by the other columns of their keys. The parameters are one array per such column,
 * then the organization. It is a single value, so that a distributed database uses only the server that holds it.
 */
function deleteByKeys(within: InSchema, table: AnyTable, columns: readonly string[] = table.key): string {
  const [first = '', ...others] = columns;
  const matches = others.map((name) => `stored.${quoted(name)} = gone.${quoted(name)}`).join(' AND ');
  return (
    `DELETE FROM ${tableIn(within, table)} AS stored USING (${rowsFromArrays(table, others)}) AS gone ` +
    `WHERE stored.${quoted(first)} = $${others.length + 1} AND ${matches}`
  );
}

/** Deletes rows by the first column of their keys. The parameter is an array of its values. */
function deleteByKey(within: InSchema, table: AnyTable, column: string): string {
  return `DELETE FROM ${tableIn(within, table)} AS stored WHERE ${quoted(column)} = ANY ($1::${typeOf(table, column)}[])`;
}

/** Selects columns, by default all, of the rows that meet all conditions, in key order. */
export function selectWhere(
  within: InSchema,
  table: AnyTable,
  conditions: readonly string[],
  columns: readonly string[] = Object.keys(table.columns),
): string {
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `SELECT ${columns.map(quoted).join(', ')} FROM ${tableIn(within, table)}${where} ORDER BY ${keyList(table)}`;
}
