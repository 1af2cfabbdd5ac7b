import { beforeEach, describe, onTestFinished, TestRunner } from 'vitest';
import type { Value } from '../../../schema/row.ts';
import type { Clock } from '../../../src/core/clock.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import type { Template } from '../postgres/template.ts';
import { postgres } from './postgres-place.ts';
import { sqlite } from './sqlite-place.ts';

/** A row of a query. Days are `YYYY-MM-DD`, times as `toISOString` writes them, flags 0 or 1, JSON is text. */
export type Found = Record<string, Value>;

/** Access to a warehouse like that of another program. Values replace the `?` of the SQL. */
export interface Foreign {
  query<Row = Found>(sql: string, ...values: Value[]): Promise<Row[]>;
  /** Runs one statement, or several if there are no values. */
  execute(sql: string, ...values: Value[]): Promise<void>;
}

/** A table or view, as the database describes it. */
export interface Relation {
  readonly name: string;
  readonly isView: boolean;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly isRequired: boolean }[];
  /** The columns of the primary key, in key order. */
  readonly key: readonly string[];
}

/** A place for a warehouse. Its content is removed when the test ends. */
export interface Place extends Foreign {
  /** As `openWarehouse` and the setting accept it. */
  readonly location: string;
  /** Creates the place without a warehouse: an empty file, an empty schema. */
  makeEmpty(): Promise<void>;
  /** Lists all tables and views. */
  relations(): Promise<Relation[]>;
  /** Opens a separate connection for transactions. It is closed when the test ends. */
  connect(): Promise<Foreign>;
  /** Starts a write like another program, and blocks all other writers until the returned function is called. */
  keepOthersFromWriting(): Promise<() => Promise<void>>;
  /** Everything in it, for {@link put}; nobody may use the place meanwhile. Null on a server that is not the suite's own. */
  keep(): Promise<Content | null>;
  /** Replaces everything in it by what a place of the same database has kept. */
  put(content: Content): Promise<void>;
}

/** The content of a place: a file, or a database. */
export type Content = Buffer | Template;

export interface Database {
  readonly name: string;
  /** The reason why there is none; null if there is one. */
  readonly missing: string | null;
  /** The reason why it has only one session for all connections; null if it has many. */
  readonly oneSession: string | null;
  /** Returns a new, empty place. */
  place(): Place;
  /**
   * Returns a new place for tests that do not care who creates the warehouse: it may hold an empty one of this version,
   * which takes less time than to migrate one.
   */
  migrated(): Promise<Place>;
}

/** An open warehouse and its place. */
export type Held = Warehouse & { readonly place: Place };

/** Every database that a warehouse can be in. */
export const databases: readonly Database[] = [sqlite, postgres];

/** Declares the same tests for every database. */
export function onEachDatabase(declare: (database: Database) => void): void {
  for (const database of databases) onDatabase(database, () => declare(database));
}

/** Declares tests for one database. Without that database they are skipped with the reason. */
export function onDatabase({ name, missing }: Database, declare: () => void): void {
  describe(name, { tags: name === postgres.name ? ['postgresql'] : [] }, () => {
    beforeEach(({ skip }) => skip(missing !== null, missing ?? ''));
    declare();
  });
}

/** Skips the calling test if the database has only one session. */
export function needsSessions({ oneSession }: Database): void {
  if (oneSession !== null) TestRunner.getCurrentTest()?.context.skip(oneSession);
}

/** Opens a warehouse, by default a new one. It is closed when the test ends. */
export async function open(
  where: Database | Place,
  options: { clock?: Clock; create?: boolean; signal?: AbortSignal; partial?: boolean } = {},
): Promise<Held> {
  const { clock = new FakeClock({ auto: true }), create = true, signal, partial } = options;
  const place = 'location' in where ? where : await (create ? where.migrated() : where.place());
  const warehouse = await openWarehouse(place.location, { clock, create, signal, partial });
  onTestFinished(() => warehouse.close());
  return { ...warehouse, place };
}
