import { sql } from 'drizzle-orm';
import {
  integer,
  primaryKey,
  real,
  type SQLiteColumn,
  type SQLiteColumnBuilderBase,
  sqliteTable,
  sqliteView,
  text,
} from 'drizzle-orm/sqlite-core';
import { type AnyTable, type Column, type Columns, KINDS, type View } from '../schema/define.ts';
import { allTables } from '../schema/tables.ts';
import { allViews } from '../schema/views.ts';

const BUILDERS = { TEXT: () => text(), REAL: () => real(), INTEGER: () => integer() };

function builderOf({ kind }: Column): SQLiteColumnBuilderBase {
  const { sqlite, isNullable } = KINDS[kind];
  const builder = BUILDERS[sqlite]();
  return isNullable ? builder : builder.notNull();
}

function buildersOf(columns: Columns): Record<string, SQLiteColumnBuilderBase> {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, builderOf(column)]));
}

function toSqlite({ name, columns, key }: AnyTable) {
  return sqliteTable(name, buildersOf(columns), (self: Record<string, SQLiteColumn>) => {
    const [first, ...rest] = key.flatMap((column) => self[column] ?? []);
    return first === undefined ? [] : [primaryKey({ columns: [first, ...rest] })];
  });
}

function viewToSqlite({ name, columns, select }: View) {
  return sqliteView(name, buildersOf(columns)).as(sql.raw(select.sqlite.trim()));
}

/** Every table and view as drizzle-kit needs it to generate the migrations of SQLite. */
export const sqliteSchema = Object.fromEntries([
  ...allTables.map((table) => [table.name, toSqlite(table)] as const),
  ...allViews.map((view) => [view.name, viewToSqlite(view)] as const),
]);
