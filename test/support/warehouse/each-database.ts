import { beforeEach, describe, onTestFinished, TestRunner } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import type { Value, Warehouse } from '../../../src/warehouse/port.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import { postgres } from './postgres-place.ts';
import { sqlite } from './sqlite-place.ts';

/** A row of a query. Days are `YYYY-MM-DD`, instants as `toISOString` writes them, flags 0 or 1, JSON is text. */
export type Found = Record<string, Value>;

/** How another program sees a warehouse, or changes it. Values go where the SQL has `?`. */
export interface Foreign {
  /** The rows of a query. */
  query<Row = Found>(sql: string, ...values: Value[]): Promise<Row[]>;
  /** Runs a statement, or several without values. */
  execute(sql: string, ...values: Value[]): Promise<void>;
}

/** A table or view, as the database knows it. */
export interface Relation {
  readonly name: string;
  readonly isView: boolean;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly isRequired: boolean }[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
}

/** Where a warehouse is, or can be made. What is there is removed when the test ends. */
export interface Place extends Foreign {
  /** As `openWarehouse` and the setting take it. */
  readonly location: string;
  /** Makes the place without a warehouse in it: an empty file, an empty schema. */
  makeEmpty(): Promise<void>;
  /** What tables and views there are. */
  relations(): Promise<Relation[]>;
  /** A connection of its own, in which a transaction may be begun. It is closed when the test ends. */
  connect(): Promise<Foreign>;
  /** Begins to write, as another program would, and keeps all others from writing until the answer is called. */
  keepOthersFromWriting(): Promise<() => Promise<void>>;
}

/** A database that warehouses can be in. */
export interface Database {
  readonly name: string;
  /** Why there is none; null where there is. */
  readonly missing: string | null;
  /** Why there cannot be two transactions, or two holders of a lock, at once; null where there can. */
  readonly oneSession: string | null;
  /** A place where nothing is yet. */
  place(): Place;
}

/** An open warehouse, and what is around it. */
export type Held = Warehouse & { readonly place: Place };

/** Every database that a warehouse can be in. */
export const databases: readonly Database[] = [sqlite, postgres];

/** Declares the same tests for every database. */
export function onEachDatabase(declare: (database: Database) => void): void {
  for (const database of databases) onDatabase(database, () => declare(database));
}

/** Declares tests for one database. Where there is none they are skipped, and say why. */
export function onDatabase({ name, missing }: Database, declare: () => void): void {
  describe(name, () => {
    beforeEach(({ skip }) => skip(missing !== null, missing ?? ''));
    declare();
  });
}

/** Skips the test that calls it where a database has one session for all. */
export function needsSessions({ oneSession }: Database): void {
  if (oneSession !== null) TestRunner.getCurrentTest()?.context.skip(oneSession);
}

/** Opens a warehouse, a new one unless a place is given. It is closed when the test ends. */
export async function open(
  where: Database | Place,
  options: { clock?: Clock; create?: boolean; signal?: AbortSignal } = {},
): Promise<Held> {
  const place = 'location' in where ? where : where.place();
  const { clock = new FakeClock({ auto: true }), create = true, signal } = options;
  const warehouse = await openWarehouse(place.location, { clock, create, signal });
  onTestFinished(() => warehouse.close());
  return { ...warehouse, place };
}
