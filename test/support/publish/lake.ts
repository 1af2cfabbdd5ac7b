import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { PublishReport } from '../../../jobs/publish.ts';
import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { ContentHash } from '../../../schema/digest.ts';
import type { Value, Values } from '../../../schema/row.ts';
import { publishedTables } from '../../../schema/tables.ts';
import { tempDir } from '../suite/temp-dir.ts';
import { publishFrom } from './publish-from.ts';

/** The result of a DuckDB query, with JSON values, so that exact results prove exact files. */
export type Answer = readonly (readonly unknown[])[];

/** Queries DuckDB, which has its own Parquet reader. */
export async function ask(sql: string): Promise<Answer> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJS();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** The FROM clause of a table of a lake. */
export function tableIn(lake: string, table: string): string {
  return `read_parquet('${lake}/${table}/**/*.parquet', hive_partitioning = true)`;
}

/** For each kind of value, the SQL to read it and the conversion to a warehouse value. */
const READ: Readonly<
  Record<ColumnKind, readonly [sql: (name: string) => string, value: (read: unknown) => Value]>
> = {
  key: [(name) => name, textOf],
  day: [(name) => `strftime(${name}, '%Y-%m-%d')`, textOf],
  date: [(name) => `strftime(${name}, '%Y-%m-%d')`, textOf],
  text: [(name) => name, textOf],
  label: [(name) => name, textOf],
  metric: [(name) => name, numberOf],
  amount: [(name) => name, numberOf],
  integer: [(name) => name, numberOf],
  count: [(name) => name, numberOf],
  flag: [(name) => `${name}::INTEGER`, numberOf],
  yesNo: [(name) => `${name}::INTEGER`, numberOf],
  instant: [(name) => `epoch_ms(${name})`, instantOf],
  moment: [(name) => `epoch_ms(${name})`, instantOf],
  json: [(name) => name, textOf],
  record: [(name) => name, textOf],
};

function textOf(read: unknown): string | null {
  return read === null ? null : String(read);
}

function numberOf(read: unknown): number | null {
  return read === null ? null : Number(read);
}

function instantOf(read: unknown): string | null {
  return read === null ? null : new Date(Number(read)).toISOString();
}

/** The rows of a table of a lake as the warehouse has them, in key order. */
export async function rowsIn(
  lake: string,
  table: AnyTable,
  from = tableIn(lake, table.name),
): Promise<Values[]> {
  const columns = Object.entries(table.columns).map(([name, { kind }]) => {
    const quoted = `"${name}"`;
    // Of the ledger's days that of readiness is '', which no date is.
    if (table.role === 'ledger' && name === 'date')
      return [`coalesce(${READ.day[0](quoted)}, '')`, textOf] as const;
    // Hive has no empty value.
    if (name === 'org_id' && kind === 'key') return [`coalesce(${quoted}, '')`, textOf] as const;
    return [READ[kind][0](quoted), READ[kind][1]] as const;
  });
  const order = table.key.map((name) => columns[Object.keys(table.columns).indexOf(name)]?.[0]);
  const rows = await ask(
    `SELECT ${columns.map(([sql]) => sql).join(', ')} FROM ${from} ORDER BY ${order.join(', ')}`,
  );
  return rows.map((row) => row.map((value, index) => columns[index]?.[1](value) ?? null));
}

/** The digest of a table of a lake, as `daywalk digest` has it of the warehouse. */
export async function digestIn(lake: string, table: AnyTable): Promise<string> {
  const hash = new ContentHash();
  hash.begin(table);
  hash.add(await rowsIn(lake, table));
  return hash.hex();
}

/** Publishes a warehouse as a lake, by default a new one. */
export async function lakeOf(
  warehouse: string,
  { directory = join(tempDir(), 'lake'), tables = publishedTables, force = false } = {},
): Promise<PublishReport & { readonly lake: string }> {
  return { ...(await publishFrom(warehouse, { parquet: { directory, tables, force } })), lake: directory };
}

/** Returns every file of a lake by path, with an identity that changes when the file is replaced. */
export function filesIn(lake: string): Record<string, string> {
  const paths = readdirSync(lake, { recursive: true, encoding: 'utf8' }).toSorted();
  const files = paths.filter((path) => statSync(join(lake, path)).isFile() && path.endsWith('.parquet'));
  return Object.fromEntries(
    files.map((path) => {
      const { ino, mtimeMs, size } = statSync(join(lake, path));
      return [path, `${ino} ${mtimeMs} ${size}`];
    }),
  );
}

/** Returns the files that differ between two snapshots of a lake. */
export function changedBetween(before: Record<string, string>, after: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).toSorted();
}
