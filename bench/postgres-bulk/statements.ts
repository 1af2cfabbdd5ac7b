import type { AnyTable } from '../../schema/define.ts';
import { typedColumns } from './tables.ts';

function names(table: AnyTable): string {
  return Object.keys(table.columns)
    .map((name) => `"${name}"`)
    .join(', ');
}

/** INSERT of the rows of `source`; stored rows are updated if they differ. */
export function upsert(table: AnyTable, source: string): string {
  const values = Object.keys(table.columns).filter((name) => !table.key.includes(name));
  const stored = values.map((name) => `t."${name}"`).join(', ');
  const given = values.map((name) => `excluded."${name}"`).join(', ');
  const assignments = values.map((name) => `"${name}" = excluded."${name}"`).join(', ');
  return (
    `INSERT INTO "${table.name}" AS t (${names(table)}) ${source} ON CONFLICT (${table.key.join(', ')}) ` +
    `DO UPDATE SET ${assignments} WHERE (${stored}) IS DISTINCT FROM (${given})`
  );
}

/** SELECT of rows from parameters, starting with parameter `first`. */
export type Source = (table: AnyTable, first: number) => string;

/** Rows from one array per column, combined by one function scan. */
export const fromArrays: Source = (table, first) => {
  const arrays = typedColumns(table).map(({ type }, at) => `$${first + at}::${type}[]`);
  return `SELECT * FROM unnest(${arrays.join(', ')})`;
};

/** Rows from one array per column, combined by the select list, which materializes nothing. */
export const fromArrayList: Source = (table, first) => {
  const arrays = typedColumns(table).map(({ type }, at) => `unnest($${first + at}::${type}[])`);
  return `SELECT ${arrays.join(', ')}`;
};

/** Rows from one array of JSON objects. */
export const fromJson: Source = (table, first) => fromRecords(table, first, 'json');

/** Rows from one array of JSON objects, in the server's parsed type. */
export const fromJsonb: Source = (table, first) => fromRecords(table, first, 'jsonb');

function fromRecords(table: AnyTable, first: number, type: 'json' | 'jsonb'): string {
  const columns = typedColumns(table).map((column) => `"${column.name}" ${column.type}`);
  return `SELECT ${names(table)} FROM ${type}_to_recordset($${first}::${type}) AS r (${columns.join(', ')})`;
}

/** VALUES with one parameter per value. */
export function fromValues(table: AnyTable, rows: number): string {
  const columns = typedColumns(table);
  let parameter = 0;
  const tuples = Array.from({ length: rows }, () => {
    const tuple = columns.map(({ type }) => {
      parameter += 1;
      return `$${parameter}::${type}`;
    });
    return `(${tuple.join(',')})`;
  });
  return `VALUES ${tuples.join(',')}`;
}

/** One statement that upserts into several tables, each with `parameters`, and returns the number of written rows. */
export function upsertMany(
  tables: readonly AnyTable[],
  source: Source,
  parameters: readonly number[],
): string {
  let first = 1;
  const parts = tables.map((table, at) => {
    const part = `w${at} AS (${upsert(table, source(table, first))} RETURNING 1)`;
    first += parameters[at] ?? 0;
    return part;
  });
  const sum = tables.map((_, at) => `(SELECT count(*) FROM w${at})`).join(' + ');
  return `WITH ${parts.join(', ')} SELECT (${sum})::int AS written`;
}
