import { sql } from '../../schema/query.ts';
import type { Clock } from '../core/clock.ts';
import { BusyError, type Reason, StorageError, UsageError } from '../core/errors.ts';
import { brokenInstallation } from '../core/files.ts';
import { isObject, parseJson } from '../core/json.ts';
import {
  isPostgres,
  type LockOptions,
  RESTORING,
  type RunLock,
  schemeOf,
  type Warehouse,
} from '../port/index.ts';
import { onceMoreIfCancelled } from './reading.ts';
import type { Migrating, SchemaExpected } from './schema-version.ts';

export interface OpenOptions extends SchemaExpected, Migrating {
  readonly clock: Clock;
  /** Create the warehouse if it does not exist. Without it, a missing warehouse is a usage error. */
  readonly create: boolean;
  /**
   * Open for reading only: nothing is written or migrated, and a schema of another version is refused. Needs no right to
   * write in the database; methods that write throw.
   * @default false
   */
  readonly readOnly?: boolean | undefined;
  /**
   * With `readOnly`, create no file beside a SQLite file. One above 256 MiB is refused then, unless somebody has it open.
   * @default false
   */
  readonly leavesNoTrace?: boolean | undefined;
  /** Also a warehouse that has a part of a backup or of another warehouse only. @default false */
  readonly partial?: boolean | undefined;
  /**
   * The longest that a statement of a warehouse opened for reading may take, in milliseconds. After it, the statement is ended
   * with a `StorageError` (`read-too-slow`), and the warehouse can only be closed. SQLite reads in another process then.
   * @default no limit
   */
  readonly statementMsMax?: number | undefined;
  /** Aborted when the process must stop; this shortens waits for other programs. */
  readonly signal?: AbortSignal | undefined;
  /** Called with problems that the owner of the machine should know about, and their remedies. */
  readonly warn?: ((message: string, hint: string, reason?: Reason) => void) | undefined;
  /**
   * Size of SQLite's write-ahead log that causes a warning, in bytes.
   * @default 64 MiB
   */
  readonly logBytesMax?: number | undefined;
}

/**
 * Opens the warehouse at a location, a SQLite path or `postgres://…`, and migrates it to the schema of this version, unless
 * it is opened for reading only.
 * Only the driver of that database is loaded.
 * @throws {UsageError} if this version cannot open the location, or if the driver is not installed correctly.
 * @throws {StorageError} if a restore or a copy has left a part in it.
 */
export async function openWarehouse(location: string, options: OpenOptions): Promise<Warehouse> {
  const warehouse = await openAny(location, options);
  try {
    // A warehouse of an earlier version may lack the table that says so. Its upgrade asks.
    const isOlder = options.acceptsOlder === true || (options.leaving ?? 0) > 0;
    if (options.partial !== true && !isOlder) await expectWhole(warehouse);
    return warehouse;
  } catch (error) {
    await warehouse.close();
    throw error;
  }
}

async function openAny(location: string, options: OpenOptions): Promise<Warehouse> {
  if (isPostgres(location)) {
    const { openPostgres, openPostgresForReading } = await import('./postgres/warehouse.ts');
    return options.readOnly === true
      ? openPostgresForReading(location, options)
      : openPostgres(location, options);
  }
  const scheme = schemeOf(location);
  if (scheme !== undefined) {
    throw new UsageError(`there are no ${scheme} warehouses`, {
      hint: 'name a SQLite file, for example daywalk.db, or a postgres:// URL',
    });
  }
  await requireAddon();
  const { openSqlite } = await import('./sqlite/warehouse.ts');
  return openSqlite(location, options);
}

/** Opens a warehouse, passes it to `use`, and closes it even if `use` fails. */
export async function withWarehouse<Result>(
  location: string,
  options: OpenOptions,
  use: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const warehouse = await openWarehouse(location, options);
  try {
    return await use(warehouse);
  } finally {
    await warehouse.close();
  }
}

/**
 * Opens an existing warehouse for reading only, passes it to `use`, and closes it. If a standby cancels a read, all is done once
 * more, so `use` must be able to begin again.
 * @throws {CancelledReadError} if that happens twice.
 */
export function readWarehouse<Result>(
  location: string,
  options: Pick<OpenOptions, 'clock' | 'signal' | 'statementMsMax'>,
  use: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  return onceMoreIfCancelled(() =>
    withWarehouse(location, { ...options, create: false, readOnly: true }, use),
  );
}

/**
 * Makes sure that a run could write a warehouse, or create it. Writes nothing, and no transaction gets an ID.
 * @throws {StorageError} or {UsageError}, as opening it for writing would.
 */
export async function expectWritable(location: string): Promise<void> {
  if (isPostgres(location)) {
    const { openPostgresForNotes } = await import('./postgres/warehouse.ts');
    const notes = openPostgresForNotes(location);
    return notes.expectWritable().finally(() => notes.close());
  }
  await requireAddon();
  const { expectWritableFile } = await import('../core/sqlite-files.ts');
  expectWritableFile(location);
}

/** Writes what a command notes in a warehouse that it otherwise only reads. */
export type WriteNotes = (write: (notes: Pick<Warehouse, 'transact'>) => Promise<void>) => Promise<void>;

/**
 * Returns what writes notes into a warehouse that has the present schema. On PostgreSQL nothing outlives a transaction, so a pool
 * in transaction mode serves. It throws a `DaywalkError` if this user may not write there, or a standby is asked.
 */
export function notesIn(location: string, options: Pick<OpenOptions, 'clock' | 'signal'>): WriteNotes {
  return async (write) => {
    if (!isPostgres(location)) return withWarehouse(location, { ...options, create: false }, write);
    const { openPostgresForNotes } = await import('./postgres/warehouse.ts');
    const warehouse = openPostgresForNotes(location);
    try {
      await write(warehouse);
    } finally {
      await warehouse.close();
    }
  };
}

/** The longest wait for another run; longer than any run takes. */
const WAIT_MS_MAX = 24 * 60 * 60 * 1000;
/** The pause between two attempts. */
const PAUSE_MS = 500;

interface LockWait extends LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Wait for another run to end instead of failing. */
  readonly wait: boolean;
  /** Called once, before the wait begins. */
  readonly warn?: ((message: string, hint: string) => void) | undefined;
  /** Also of a warehouse that has a part only, see {@link OpenOptions}. @default false */
  readonly partial?: boolean;
}

/**
 * Takes the run lock of a warehouse.
 * @throws {BusyError} when another run holds it and `wait` is false, or still holds it after 24 hours.
 * @throws {StorageError} when the warehouse has a part of a backup only.
 */
export async function takeLock(warehouse: Warehouse, options: LockWait): Promise<RunLock> {
  const lock = await waitForLock(warehouse, options);
  try {
    // While this process waited, another one may have begun to fill the warehouse.
    if (options.partial !== true) await expectWhole(warehouse);
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** @throws {StorageError} when the warehouse has a part of a backup or of another warehouse only. */
export async function expectWhole(warehouse: Pick<Warehouse, 'location' | 'read'>): Promise<void> {
  const value = await warehouse.read(function* () {
    const [row] = yield sql`SELECT value FROM export_state WHERE org_id = '' AND name = ${RESTORING}`;
    return row?.['value'];
  });
  if (value === undefined) return;
  const work = isObject(parseJson(String(value))) ? 'copy' : 'restore';
  throw new StorageError(
    `a ${work} into ${warehouse.location} was interrupted, or goes on: it has a part only`,
    {
      hint: `repeat the ${work}: it resumes`,
    },
  );
}

async function waitForLock(
  warehouse: Warehouse,
  { clock, signal, wait, warn, exclusive = false }: LockWait,
): Promise<RunLock> {
  const since = clock.monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await warehouse.lock({ exclusive });
    } catch (error) {
      const mayWait = wait && clock.monotonicMs() - since < WAIT_MS_MAX;
      if (!mayWait || !(error instanceof BusyError)) throw error;
      if (attempt === 1) warn?.(error.message, 'waiting for it to end, 24 hours at most');
    }
    await clock.sleep(PAUSE_MS, signal);
  }
}

/**
 * Loads the compiled part of better-sqlite3, so that a broken installation is reported before anything is opened.
 * @throws {UsageError} with the remedy when a file is missing or does not fit this platform.
 */
async function requireAddon(): Promise<void> {
  // The driver asks Node for a report to learn the C library. Reports look up the names of open connections, which can take long.
  Reflect.set(process.report, 'excludeNetwork', true);
  try {
    const { default: Sqlite } = await import('better-sqlite3');
    new Sqlite(':memory:').close();
  } catch (cause) {
    throw brokenInstallation('better-sqlite3', cause);
  }
}
