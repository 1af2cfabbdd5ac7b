import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  date,
  doublePrecision,
  index,
  json,
  jsonb,
  type PgColumn,
  pgTable,
  pgView,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';
import type { ColumnKind, Columns, Table, View } from './define.ts';
import { tables } from './tables.ts';
import { views } from './views.ts';

/** Text that is compared by its bytes, as SQLite and the digests do, whatever the locale of the database. */
const byteText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });

/**
 * The PostgreSQL type of each kind. Records are `json`, which keeps the text as it was sent; `jsonb` would refuse some
 * texts that a service may send, and reorder the others.
 */
const TYPES = {
  key: () => byteText().notNull(),
  day: () => date({ mode: 'string' }).notNull(),
  text: () => text().notNull(),
  label: () => text(),
  metric: () => doublePrecision(),
  integer: () => bigint({ mode: 'number' }),
  count: () => bigint({ mode: 'number' }).notNull(),
  flag: () => boolean(),
  instant: () => timestamp({ withTimezone: true, mode: 'string' }).notNull(),
  moment: () => timestamp({ withTimezone: true, mode: 'string' }),
  json: () => jsonb(),
  record: () => json().notNull(),
} as const satisfies Record<ColumnKind, () => unknown>;

type Builders<C extends Columns> = { [Name in keyof C]: ReturnType<(typeof TYPES)[C[Name]['kind']]> };

function buildersOf<C extends Columns>(columns: C): Builders<C> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, TYPES[column.kind]()]),
  ) as Builders<C>;
}

/** The drizzle table of a declaration. It names no schema: the search path of the connection does. */
function toPostgres<C extends Columns>(spec: Table<C>) {
  return pgTable(spec.name, buildersOf(spec.columns), (self) => {
    const named = (names: readonly string[]) =>
      names.flatMap((name) => (self as Record<string, PgColumn>)[name] ?? []);
    const indexes = Object.entries(spec.indexes ?? {}).flatMap(([name, columns]) => {
      const [first, ...rest] = named(columns);
      return first === undefined ? [] : [index(name).on(first, ...rest)];
    });
    const [first, ...rest] = named(spec.key);
    if (first === undefined) return indexes;
    return [primaryKey({ name: `${spec.name}_key`, columns: [first, ...rest] }), ...indexes];
  });
}

type PostgresTables = {
  [Name in keyof typeof tables]: (typeof tables)[Name] extends Table<infer C>
    ? ReturnType<typeof toPostgres<C>>
    : never;
};

/** Every table as drizzle sees it on PostgreSQL. The mapped type says what the loop over names cannot. */
export const postgresTables = Object.fromEntries(
  Object.entries(tables).map(([name, spec]) => [name, toPostgres<Columns>(spec)]),
) as unknown as PostgresTables;

function viewToPostgres<C extends Columns>(spec: View<C>) {
  return pgView(spec.name, buildersOf(spec.columns)).as(sql.raw(spec.select.postgres.trim()));
}

type PostgresViews = {
  [Name in keyof typeof views]: (typeof views)[Name] extends View<infer C>
    ? ReturnType<typeof viewToPostgres<C>>
    : never;
};

/** Every view as drizzle sees it on PostgreSQL. */
export const postgresViews = Object.fromEntries(
  Object.entries(views).map(([name, spec]) => [name, viewToPostgres<Columns>(spec)]),
) as unknown as PostgresViews;
