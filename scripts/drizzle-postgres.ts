import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  date,
  doublePrecision,
  json,
  jsonb,
  type PgColumn,
  type PgColumnBuilderBase,
  pgTable,
  pgView,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';
import { type AnyTable, type Column, type Columns, KINDS, type View } from '../schema/define.ts';
import { allTables } from '../schema/tables.ts';
import { allViews } from '../schema/views.ts';

/** Text that is compared by its bytes, as in SQLite and the digests, and not by the locale of the database. */
const byteText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });

const BUILDERS = {
  text: () => text(),
  date: () => date({ mode: 'string' }),
  'double precision': () => doublePrecision(),
  bigint: () => bigint({ mode: 'number' }),
  boolean: () => boolean(),
  timestamptz: () => timestamp({ withTimezone: true, mode: 'string' }),
  jsonb: () => jsonb(),
  json: () => json(),
};

function builderOf({ kind }: Column): PgColumnBuilderBase {
  const { postgres, isNullable } = KINDS[kind];
  const builder = kind === 'key' ? byteText() : BUILDERS[postgres]();
  return isNullable ? builder : builder.notNull();
}

function buildersOf(columns: Columns): Record<string, PgColumnBuilderBase> {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, builderOf(column)]));
}

/** The drizzle table of a declaration. It names no schema: the search path of the connection does. */
function toPostgres({ name, columns, key }: AnyTable) {
  return pgTable(name, buildersOf(columns), (self: Record<string, PgColumn>) => {
    const [first, ...rest] = key.flatMap((column) => self[column] ?? []);
    return first === undefined ? [] : [primaryKey({ name: `${name}_key`, columns: [first, ...rest] })];
  });
}

function viewToPostgres({ name, columns, select }: View) {
  return pgView(name, buildersOf(columns)).as(sql.raw(select.postgres.trim()));
}

/** Every table and view as drizzle-kit needs it to generate the migrations of PostgreSQL. */
export const postgresSchema = Object.fromEntries([
  ...allTables.map((table) => [table.name, toPostgres(table)] as const),
  ...allViews.map((view) => [view.name, viewToPostgres(view)] as const),
]);
