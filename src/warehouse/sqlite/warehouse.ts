import type { RunLock, Warehouse } from '../port.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { damagesOf } from './damages.ts';
import { discardNew } from './discard.ts';
import { forgetDeleted } from './forget-deleted.ts';
import { storeHookEvents } from './hook-events.ts';
import {
  acceptQuarantine,
  doubtUnit,
  failUnit,
  noteUnits,
  readReadiness,
  readState,
  readUnit,
  readUnits,
  reopenDays,
  writeState,
} from './ledger.ts';
import { takeRunLock } from './lock.ts';
import { expectSchema, migrate, refreshStatistics } from './migrate.ts';
import { runSteps, select, versionOf, withRoomToSort } from './queries.ts';
import { commitReadinessPage, endReadinessWalk, knownReports, storedReports } from './readiness.ts';
import { changeRows } from './rows.ts';
import {
  countRestatements,
  endRun,
  readOrganizations,
  readQuarantineCounts,
  readRuns,
  startRun,
} from './runs.ts';
import { saveCopy } from './save-copy.ts';
import { readRows, scan } from './scan.ts';
import { recordSession } from './sessions.ts';
import { DayWriter } from './writer/writer.ts';

/**
 * Opens a SQLite file as a warehouse and migrates it to the schema of this version.
 * @throws {UsageError} if the file is missing (unless `create`), belongs to another program, or has a newer version.
 * @throws {StorageError} if it cannot be opened or, unless `readOnly`, written.
 */
export async function openSqlite(path: string, options: ConnectionOptions): Promise<Warehouse> {
  const connection = new Connection(path, options);
  try {
    if (options.readOnly === true) expectSchema(connection);
    else await migrate(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  return sqliteWarehouse(connection, new DayWriter(connection, options.signal));
}

function sqliteWarehouse(connection: Connection, days: DayWriter): Warehouse {
  const { path } = connection;
  return {
    location: path,
    dialect: 'sqlite',
    lock: async () => runLock(connection),
    organizations: async () => connection.read('read', () => readOrganizations(connection)),
    units: async (orgId, streams) => connection.read('read', () => readUnits(connection, orgId, streams)),
    readinessUnit: async (orgId) => connection.read('read', () => readReadiness(connection, orgId)),
    commitDay: async (commit) => {
      const doing = `commit ${commit.stream} ${commit.day} to`;
      const [outcome] = await days.commitDays(doing, [commit]);
      return outcome ?? { rowsWritten: 0, restated: false, units: [] };
    },
    commitDays: (commits) => days.commitDays(`commit ${commits.length} units to`, commits),
    commitReadinessPage: (page) =>
      connection.transaction('commit a page of readiness reports to', () =>
        commitReadinessPage(connection, page),
      ),
    knownReports: async (orgId, page) => connection.read('read', () => knownReports(connection, orgId, page)),
    reportIds: async (orgId) => connection.read('read', () => storedReports(connection, orgId)),
    endReadinessWalk: (end) =>
      connection.transaction('end the readiness walk in', () => endReadinessWalk(connection, end)),
    failUnit: (failure) => connection.transaction('record a failure in', () => failUnit(connection, failure)),
    doubtUnit: (doubt) => connection.transaction('record a doubt in', () => doubtUnit(connection, doubt)),
    noteUnits: (orgId, notes) =>
      connection.transaction('note differences in', () => noteUnits(connection, orgId, notes)),
    reopenDays: (orgId, opened) =>
      connection.transaction('reopen days in', () => reopenDays(connection, orgId, opened)),
    state: async (orgId, name) => connection.read('read', () => readState(connection, orgId, name)),
    setState: (orgId, name, value) =>
      connection.transaction('remember the state in', () => writeState(connection, orgId, name, value)),
    storeHookEvents: (commit) =>
      connection.transaction('store hook events in', () => storeHookEvents(connection, commit)),
    recordSession: (row) =>
      connection.transaction('record a session in', () => recordSession(connection, row)),
    startRun: (run) => connection.transaction('record the run in', () => startRun(connection, run)),
    endRun: (run) => connection.transaction('record the run in', () => endRun(connection, run)),
    runs: async (limit, orgId) => connection.read('read', () => readRuns(connection, limit, orgId)),
    quarantineCounts: async () => connection.read('read', () => readQuarantineCounts(connection)),
    acceptQuarantine: (scope, at) =>
      connection.transaction('accept records in the quarantine of', () =>
        acceptQuarantine(connection, scope, at),
      ),
    restatementCount: async (orgId) => connection.read('read', () => countRestatements(connection, orgId)),
    scan: (table, scope, columns) => scan(connection, table, scope, columns),
    rowsOf: (table, scope, columns) => readRows(connection, table, scope, columns),
    change: (changes) => connection.transaction('move rows into', () => changeRows(connection, changes)),
    oneAtATime: (_, work) => work(),
    saveCopy: async (copy) => saveCopy(connection, copy),
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
): Pick<Warehouse, 'select' | 'transact' | 'version' | 'inSnapshot'> {
  return {
    transact: (doing, steps) =>
      connection.transaction(doing, () => withRoomToSort(connection, () => runSteps(connection, steps()))),
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
    claim: async (units) => connection.read('read', () => units.map((unit) => readUnit(connection, unit))),
    claimWatch: async () => true,
    free: async () => undefined,
    release,
  };
}
