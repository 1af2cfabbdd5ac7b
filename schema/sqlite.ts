import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  real,
  type SQLiteColumn,
  sqliteTable,
  sqliteView,
  text,
} from 'drizzle-orm/sqlite-core';
import type { ColumnKind, Columns, Table, View } from './define.ts';
import { tables } from './tables.ts';
import { views } from './views.ts';

/**
 * The SQLite type of each kind. Metrics are REAL, so that a quotient of whole numbers is what PostgreSQL says it is. On
 * disk SQLite keeps a whole number of REAL as an integer, which takes no more room.
 */
const TYPES = {
  key: () => text().notNull(),
  day: () => text().notNull(),
  text: () => text().notNull(),
  label: () => text(),
  metric: () => real(),
  integer: () => integer(),
  count: () => integer().notNull(),
  flag: () => integer(),
  instant: () => text().notNull(),
  moment: () => text(),
  json: () => text(),
  record: () => text().notNull(),
} as const satisfies Record<ColumnKind, () => unknown>;

type Builders<C extends Columns> = { [Name in keyof C]: ReturnType<(typeof TYPES)[C[Name]['kind']]> };

function buildersOf<C extends Columns>(columns: C): Builders<C> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, TYPES[column.kind]()]),
  ) as Builders<C>;
}

/** The drizzle table of a declaration. */
function toSqlite<C extends Columns>(spec: Table<C>) {
  return sqliteTable(spec.name, buildersOf(spec.columns), (self) => {
    const named = (names: readonly string[]) =>
      names.flatMap((name) => (self as Record<string, SQLiteColumn>)[name] ?? []);
    const indexes = Object.entries(spec.indexes ?? {}).flatMap(([name, columns]) => {
      const [first, ...rest] = named(columns);
      return first === undefined ? [] : [index(name).on(first, ...rest)];
    });
    const [first, ...rest] = named(spec.key);
    return first === undefined ? indexes : [primaryKey({ columns: [first, ...rest] }), ...indexes];
  });
}

type SqliteTables = {
  [Name in keyof typeof tables]: (typeof tables)[Name] extends Table<infer C>
    ? ReturnType<typeof toSqlite<C>>
    : never;
};

/** Every table as drizzle sees it on SQLite. The mapped type says what the loop over names cannot. */
export const sqliteTables = Object.fromEntries(
  Object.entries(tables).map(([name, spec]) => [name, toSqlite<Columns>(spec)]),
) as unknown as SqliteTables;

function viewToSqlite<C extends Columns>(spec: View<C>) {
  return sqliteView(spec.name, buildersOf(spec.columns)).as(sql.raw(spec.select.sqlite.trim()));
}

type SqliteViews = {
  [Name in keyof typeof views]: (typeof views)[Name] extends View<infer C>
    ? ReturnType<typeof viewToSqlite<C>>
    : never;
};

/** Every view as drizzle sees it on SQLite. */
export const sqliteViews = Object.fromEntries(
  Object.entries(views).map(([name, spec]) => [name, viewToSqlite<Columns>(spec)]),
) as unknown as SqliteViews;
