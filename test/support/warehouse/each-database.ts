import { beforeEach, describe, onTestFinished, TestRunner } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import type { Value, Warehouse } from '../../../src/warehouse/port.ts';
import { FakeClock } from '../clock/fake-clock.ts';
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
}

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
  describe(name, () => {
    beforeEach(({ skip, task }) => {
      skip(missing !== null, missing ?? '');
      skip(isLeftOut(name, task.file.filepath), `on ${name} by npm run test:postgres`);
    });
    declare();
  });
}

/**
 * The folders and files whose tests run on PostgreSQL in `npm run test:postgres` only, so that `npm test` stays short. The tests
 * of the port of the warehouse run on both databases always, and most of what these show lies above the port.
 */
export const ON_SQLITE_ONLY = [
  'test/behaviour/faults',
  'test/behaviour/trust',
  'test/behaviour/verify',
  'test/behaviour/privacy',
  'test/behaviour/people',
  'test/behaviour/money',
  'test/behaviour/metrics',
  'test/behaviour/bi',
  'test/behaviour/focus',
  'test/behaviour/security',
  'test/behaviour/requests',
  'test/behaviour/resume',
  'test/behaviour/publish',
  'test/behaviour/archive',
  'test/behaviour/erase',
  'test/behaviour/look',
  'test/behaviour/rollups',
  'test/behaviour/command-line/health.test.ts',
  'test/behaviour/copy',
  'test/behaviour/postgres/workers.test.ts',
  'test/behaviour/exactness/readiness.test.ts',
  'test/behaviour/exactness/restatement.test.ts',
  'test/behaviour/exactness/same-digest.test.ts',
  'test/behaviour/exactness/second-run.test.ts',
  'test/behaviour/organizations/commands.test.ts',
  'test/behaviour/organizations/identity.test.ts',
  'test/behaviour/organizations/isolated.test.ts',
  'test/behaviour/monitoring',
  'test/behaviour/serve/process.test.ts',
  'test/behaviour/report',
  'test/behaviour/alerts/notifications.test.ts',
  'test/behaviour/alerts/organizations.test.ts',
  'test/behaviour/dashboard/reading.test.ts',
  'test/behaviour/dashboard/crowded.test.ts',
  'test/behaviour/exactness/known-answers.test.ts',
  'test/behaviour/exactness/statistics.test.ts',
  'test/behaviour/upgrade/kept.test.ts',
] as const;

function isLeftOut(database: string, path: string): boolean {
  const isWhole = ['DAYWALK_POSTGRES', 'DAYWALK_CHAOS', 'DAYWALK_FUZZ'].some(
    (name) => process.env[name] === '1',
  );
  return (
    database === postgres.name &&
    !isWhole &&
    ON_SQLITE_ONLY.some((part) => path.endsWith(`/${part}`) || path.includes(`/${part}/`))
  );
}

/** Skips the calling test if the database has only one session. */
export function needsSessions({ oneSession }: Database): void {
  if (oneSession !== null) TestRunner.getCurrentTest()?.context.skip(oneSession);
}

/** Opens a warehouse, by default a new one. It is closed when the test ends. */
export async function open(
  where: Database | Place,
  options: { clock?: Clock; create?: boolean; signal?: AbortSignal } = {},
): Promise<Held> {
  const { clock = new FakeClock({ auto: true }), create = true, signal } = options;
  const place = 'location' in where ? where : await (create ? where.migrated() : where.place());
  const warehouse = await openWarehouse(place.location, { clock, create, signal });
  onTestFinished(() => warehouse.close());
  return { ...warehouse, place };
}
