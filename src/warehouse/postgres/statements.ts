import pg from 'pg';
import type { AnyTable } from '../../../schema/define.ts';
import { KINDS } from '../../../schema/kinds.ts';

export interface InSchema {
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
export function columnList(table: AnyTable): string {
  return Object.keys(table.columns).map(quoted).join(', ');
}

/** The columns of the key of a table, in order. */
export function keyList(table: AnyTable): string {
  return table.key.map(quoted).join(', ');
}

/** The PostgreSQL type of a column. */
export function typeOf(table: AnyTable, column: string): string {
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
export function rowsFromArrays(
  table: AnyTable,
  columns: readonly string[] = Object.keys(table.columns),
): string {
  const lists = columns.map(
    (name, index) => `pg_catalog.unnest($${index + 1}::${typeOf(table, name)}[]) AS ${quoted(name)}`,
  );
  return `SELECT ${lists.join(', ')}`;
}

/**
 * Deletes rows of one organization by the other columns of their keys. The parameters are one array per such column,
 * then the organization. It is a single value, so that a distributed database uses only the server that holds it.
 */
export function deleteByKeys(within: InSchema, table: AnyTable): string {
  const [first = '', ...others] = table.key;
  const matches = others.map((name) => `stored.${quoted(name)} = gone.${quoted(name)}`).join(' AND ');
  return (
    `DELETE FROM ${tableIn(within, table)} AS stored USING (${rowsFromArrays(table, others)}) AS gone ` +
    `WHERE stored.${quoted(first)} = $${others.length + 1} AND ${matches}`
  );
}

/** Deletes rows of a table whose key is one column. The parameter is an array of its values. */
export function deleteByKey(within: InSchema, table: AnyTable, column: string): string {
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

/** Selects the number of rows that meet all conditions, and the sum of each additive column. */
export function selectSums(
  within: InSchema,
  table: AnyTable,
  conditions: readonly string[],
): { sql: string; names: string[] } {
  const names = Object.entries(table.columns)
    .filter(([, column]) => column.additive === true)
    .map(([name]) => name);
  const sums = names.map((name) => `, SUM(${quoted(name)})`).join('');
  const where = conditions.join(' AND ');
  return { sql: `SELECT COUNT(*)${sums} FROM ${tableIn(within, table)} WHERE ${where}`, names };
}
