import { realpathSync, rmSync } from 'node:fs';
import { tables } from '../../../schema/tables.ts';
import { BusyError, DaywalkError, messageOf, StorageError } from '../../core/errors.ts';
import {
  createPrivately,
  type FileLock,
  isLogMissing,
  storageError,
  tryFileLock,
} from '../../core/sqlite-files.ts';
import { readUnitRows } from '../../ledger/index.ts';
import type { RunLock, Warehouse } from '../../port/index.ts';
import { refusedWrites } from '../reading.ts';
import type { Migrating, SchemaExpected } from '../schema-version.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { damagesOf, expectSchema, migrate, refreshStatistics } from './migrate.ts';
import { readRows, runSteps, scan, select, versionOf, withRoomToSort } from './queries.ts';
import { canReadInProcess, openInProcess } from './reader-process.ts';
import { DayWriter } from './writer-thread.ts';

interface SqliteOptions extends ConnectionOptions, SchemaExpected, Migrating {
  /** See `OpenOptions.statementMsMax`. */
  readonly statementMsMax?: number | undefined;
}

/**
 * Opens a SQLite file as a warehouse and migrates it to the schema of this version.
 * @throws {UsageError} if the file is missing (unless `create`), belongs to another program, or has a newer version.
 * @throws {StorageError} if it cannot be opened or, unless `readOnly`, written.
 */
export async function openSqlite(path: string, options: SqliteOptions): Promise<Warehouse> {
  if (options.readOnly === true) return openForReading(path, options);
  const connection = new Connection(path, options);
  try {
    const upgrade = await migrate(connection, options.leaving);
    if (upgrade !== undefined) options.upgraded?.(upgrade);
  } catch (error) {
    connection.close();
    throw error;
  }
  return sqliteWarehouse(connection, new DayWriter(connection, options.signal));
}

/** How often a file is opened whose log comes or goes at that instant, and the pause before the next attempt. */
const READ_ATTEMPTS_MAX = 10;
const READ_PAUSE_MS = 50;

async function openForReading(path: string, options: SqliteOptions): Promise<Warehouse> {
  const { statementMsMax, signal, acceptsOlder, leavesNoTrace } = options;
  if (statementMsMax !== undefined && canReadInProcess())
    return openInProcess({ path, acceptsOlder, leavesNoTrace }, { statementMsMax, signal }, () =>
      isLocked(path),
    );
  const connection = await connectForReading(path, options);
  const warehouse = sqliteWarehouse(connection, new DayWriter(connection, signal));
  return { ...warehouse, ...refusedWrites(path) };
}

/**
 * Opens a SQLite file of the schema of this version for reading.
 * @throws {UsageError} and {StorageError} as {@link openSqlite} does.
 */
export async function connectForReading(
  path: string,
  options: ConnectionOptions & SchemaExpected,
): Promise<Connection> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return connectOnce(path, { ...options, readOnly: true });
    } catch (error) {
      // Where this user may not write, the last one who writes takes the log away.
      const isPassing = error instanceof StorageError && isLogMissing(error.cause);
      if (!isPassing || attempt === READ_ATTEMPTS_MAX) throw error;
    }
    await options.clock.sleep(READ_PAUSE_MS, options.signal);
  }
}

function connectOnce(path: string, options: ConnectionOptions & SchemaExpected): Connection {
  const connection = new Connection(path, options);
  try {
    expectSchema(connection, options);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function sqliteWarehouse(connection: Connection, days: DayWriter): Warehouse {
  const { path } = connection;
  return {
    location: path,
    dialect: 'sqlite',
    lock: async () => runLock(connection),
    isLocked: () => isLocked(path),
    commitDays: (commits) => days.commitDays(commits),
    scan: (table, scope, columns) => scan(connection, table, scope, columns),
    rowsOf: (table, scope, columns) => readRows(connection, table, scope, columns),
    oneAtATime: (_, work) => work(),
    forgetDeleted: () => connection.runInTurn(() => forgetDeleted(connection)),
    refreshStatistics: () =>
      connection.transaction('measure the tables of', () => refreshStatistics(connection)),
    damages: async () => connection.read('check', () => damagesOf(connection)),
    ...queriesOf(connection),
    discardNew: async (runs = 1) => {
      await days.close();
      return connection.read('remove the empty warehouse', () => discardNew(connection, runs));
    },
    close: async () => {
      await days.close();
      connection.close();
    },
  };
}

function queriesOf(
  connection: Connection,
): Pick<Warehouse, 'read' | 'select' | 'transact' | 'version' | 'inSnapshot'> {
  return {
    read: async (steps) => connection.read('read', () => runSteps(connection, steps())),
    transact: (doing, steps, seeing = 'one-state') => {
      const work = () => runSteps(connection, steps());
      // Steps that need one state may be many and large.
      return connection.transaction(
        doing,
        seeing === 'latest' ? work : () => withRoomToSort(connection, work),
      );
    },
    select: async (query) => connection.read('read', () => select(connection, query)),
    version: async () => connection.read('read', () => versionOf(connection)),
    inSnapshot: (read) => connection.snapshot(read),
  };
}

/** The run lock. Its holder is the only worker, so every unit is free. */
function runLock(connection: Connection): RunLock {
  // The run may have waited for another one for hours, so the file may have changed.
  connection.expectInPlace('lock the warehouse');
  const { release } = takeRunLock(connection.path);
  return {
    claim: async (units) => connection.read('read', () => runSteps(connection, readUnitRows(units))),
    claimWatch: async () => true,
    wasLost: () => false,
    free: async () => undefined,
    release,
  };
}

/** Takes the lock for an instant: there is no other way to find out whether it is free. */
async function isLocked(path: string): Promise<boolean> {
  try {
    await takeRunLock(path).release();
    return false;
  } catch (error) {
    if (error instanceof DaywalkError) return true;
    throw error;
  }
}

/**
 * Takes the run lock of a warehouse, on a file beside it.
 * @throws {BusyError} if another run holds it.
 */
function takeRunLock(warehousePath: string): { release(): Promise<void> } {
  // Two names of one file must not have two locks.
  const path = `${realpathSync(warehousePath)}.lock`;
  createPrivately(path);
  const lock = lockAt(path);
  if (lock !== null) return { release: async () => lock.release() };
  throw new BusyError(`another run holds the warehouse ${warehousePath}`, {
    hint: 'wait for it to end',
    reason: 'warehouse-busy',
  });
}

function lockAt(path: string): FileLock | null {
  try {
    return tryFileLock(path);
  } catch (error) {
    const known = storageError(error, 'lock the warehouse with', path);
    if (known !== error) throw known;
    throw new StorageError(`lock the warehouse with ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give this user the right to write the file and its folder',
    });
  }
}

/**
 * Rewrites the file from its rows alone, see `Warehouse.forgetDeleted`. Statistics hold samples of values, and free pages and the
 * log hold what was deleted.
 */
async function forgetDeleted(connection: Connection): Promise<void> {
  const { db, path } = connection;
  try {
    db.pragma('secure_delete = ON');
    dropStatistics(connection);
    db.exec('VACUUM');
    db.exec('ANALYZE');
    emptyLog(connection);
  } catch (error) {
    if (error instanceof BusyError) throw error;
    throw storageError(error, 'forget deleted values in', path);
  }
}

function dropStatistics({ db }: Connection): void {
  const tables = db
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')",
    )
    .all();
  for (const { name } of tables) db.exec(`DELETE FROM ${name}`);
}

/** @throws {BusyError} while a reader needs the log. */
function emptyLog({ db, path }: Connection): void {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (result?.busy === 0) return;
  throw new BusyError(`empty the log of ${path}: another program reads the warehouse`, {
    hint: 'end that program and repeat the command: it resumes',
  });
}

/** Tables in which a run leaves rows even if it stored no data: the record of the run, the state of runs, and whom it met. */
const TRACES: readonly string[] = [
  tables.exportRuns.name,
  tables.exportState.name,
  tables.identity.name,
  tables.archives.name,
];

/**
 * Removes the file and its side files if this connection created it and it holds nothing but traces of `runs` runs. The
 * caller holds the run lock. Check and removal happen under the file's write lock, so no process can write in between; a
 * process that waits for that lock finds the file gone.
 */
function discardNew(connection: Connection, runs: number): boolean {
  const { db, path, isNew } = connection;
  if (!isNew) return false;
  connection.expectInPlace('remove the empty warehouse');
  db.exec('BEGIN IMMEDIATE');
  if (!isEmpty(connection, runs)) {
    db.exec('ROLLBACK');
    return false;
  }
  const files = ['', '-wal', '-shm', '.lock'].map((end) => `${realpathSync(path)}${end}`);
  for (const file of files) rmSync(file, { force: true });
  db.close();
  return true;
}

function isEmpty(connection: Connection, runs: number): boolean {
  const counts = (name: string) =>
    Number(connection.prepareRows(`SELECT COUNT(*) FROM "${name}"`).pluck().get());
  const stored = Object.values(tables).filter(({ name }) => !TRACES.includes(name));
  return counts(tables.exportRuns.name) <= runs && stored.every(({ name }) => counts(name) === 0);
}
