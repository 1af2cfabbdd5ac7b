import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { UsageError } from '../../core/errors.ts';
import { type DayCommit, dayKey, readinessKey, unitName, type Values, type Warehouse } from '../port.ts';
import { Claims } from './claims.ts';
import { commitDays } from './commit-days.ts';
import { forgetDeleted } from './forget-deleted.ts';
import { storeHookEvents } from './hook-events.ts';
import { readReadiness, readState, readUnits, writeState } from './ledger.ts';
import type { Link } from './link.ts';
import { expectSchema, migrate } from './migrate.ts';
import { oneAtATime, runSteps, select, versionOf } from './queries.ts';
import { Readers } from './readers.ts';
import { commitReadinessPage, endReadinessWalk, knownReports, storedReports } from './readiness.ts';
import { changeRows, putRows } from './rows.ts';
import {
  acceptQuarantine,
  countRestatements,
  endRun,
  readOrganizations,
  readQuarantineCounts,
  readRuns,
  refreshStatistics,
  startRun,
} from './runs.ts';
import { PostgresSession, type PostgresSessionOptions } from './session.ts';
import { doubtUnit, failUnit, noteUnits, reopenDays } from './settle-days.ts';
import { type PostgresTarget, parseTarget } from './target.ts';

const encodeSession = encoderOf(tables.sessions);

/**
 * Opens a schema of a PostgreSQL database as a warehouse and migrates it to this version.
 * @throws {UsageError} if the URL is wrong, or if the schema is missing (unless `create`), belongs to another
 * program, or has a newer version.
 * @throws {StorageError} if it cannot be reached or written.
 */
export async function openPostgres(
  url: string,
  options: PostgresSessionOptions & { readonly create: boolean },
): Promise<Warehouse> {
  const session = await PostgresSession.open(parseTarget(url), options);
  try {
    await migrate(session, options);
  } catch (error) {
    await session.close();
    throw error;
  }
  return postgresWarehouse(session);
}

/**
 * Opens a schema of a PostgreSQL database for reading only. The role needs SELECT and USAGE alone, and the server may be a
 * read-only replica.
 * @throws {UsageError} if the URL is wrong, or if the schema is missing, belongs to another program, or has another version.
 * @throws {StorageError} if it cannot be reached.
 */
export async function openPostgresForReading(
  url: string,
  { statementMsMax }: { readonly statementMsMax?: number | undefined },
): Promise<Warehouse> {
  const target = parseTarget(url);
  const readers = new Readers(target, statementMsMax);
  try {
    await readers.read((link) => expectSchema(link, target));
  } catch (error) {
    await readers.close();
    throw error;
  }
  const refuse = async () => {
    throw new TypeError(`the warehouse ${target.location} is open for reading only`);
  };
  return {
    ...readsOf((work) => readers.read(work), readers),
    ...warehouseFacts(target),
    lock: refuse,
    setState: refuse,
    commitDay: refuse,
    commitDays: refuse,
    commitReadinessPage: refuse,
    endReadinessWalk: refuse,
    failUnit: refuse,
    doubtUnit: refuse,
    noteUnits: refuse,
    reopenDays: refuse,
    storeHookEvents: refuse,
    recordSession: refuse,
    startRun: refuse,
    endRun: refuse,
    acceptQuarantine: refuse,
    change: refuse,
    transact: refuse,
    oneAtATime: refuse,
    forgetDeleted: refuse,
    refreshStatistics: refuse,
    close: () => readers.close(),
  };
}

/** What is the same however the warehouse is opened. */
function warehouseFacts({
  location,
}: PostgresTarget): Pick<Warehouse, 'location' | 'dialect' | 'damages' | 'saveCopy' | 'discardNew'> {
  return {
    location,
    dialect: 'postgres',
    damages: async () => [],
    saveCopy: async () => {
      throw new UsageError(`${location} is in PostgreSQL and cannot be saved as a SQLite file`, {
        hint: 'daywalk copy makes a SQLite warehouse of it; a second copy moves only what has changed',
        reason: 'copy-instead',
      });
    },
    discardNew: async () => false,
  };
}

type Reads = Pick<
  Warehouse,
  | 'organizations'
  | 'units'
  | 'readinessUnit'
  | 'knownReports'
  | 'reportIds'
  | 'state'
  | 'runs'
  | 'quarantineCounts'
  | 'restatementCount'
  | 'scan'
  | 'rowsOf'
  | 'select'
  | 'version'
  | 'inSnapshot'
>;
type UnitWrites = Pick<
  Warehouse,
  | 'commitDay'
  | 'commitDays'
  | 'commitReadinessPage'
  | 'endReadinessWalk'
  | 'failUnit'
  | 'doubtUnit'
  | 'noteUnits'
  | 'reopenDays'
>;

function postgresWarehouse(session: PostgresSession): Warehouse {
  const claims = new Claims(session);
  const readers = new Readers(session.target);
  return {
    ...warehouseFacts(session.target),
    ...readsOf((work) => session.transaction('read', work), readers),
    ...unitWritesOf(session, claims),
    lock: (options) => claims.lock(options),
    setState: (orgId, name, value) =>
      session.transaction('remember the state in', (link) => writeState(link, orgId, name, value)),
    storeHookEvents: (events) =>
      session.transaction('store hook events in', (link) => storeHookEvents(link, events)),
    recordSession: async (row) => {
      await session.transaction('record a session in', (link) =>
        putRows(link, { table: tables.sessions, rows: [encodeSession(row)] }),
      );
    },
    startRun: (run) => session.transaction('record the run in', (link) => startRun(link, run)),
    endRun: (run) => session.transaction('record the run in', (link) => endRun(link, run)),
    acceptQuarantine: (scope, at) =>
      session.transaction('accept records in the quarantine of', (link) => acceptQuarantine(link, scope, at)),
    change: (changes) => session.transaction('move rows into', (link) => changeRows(link, changes)),
    transact: (doing, steps) => session.repeatableRead(doing, (link) => runSteps(link, steps())),
    oneAtATime: (name, work) => oneAtATime(session, name, work),
    forgetDeleted: () => session.transaction('forget deleted values in', forgetDeleted),
    refreshStatistics: () => session.transaction('measure the tables of', refreshStatistics),
    close: async () => {
      await readers.close();
      await session.close();
    },
  };
}

/** Runs a short read outside of snapshots. */
type ShortRead = <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;

function readsOf(short: ShortRead, readers: Readers): Reads {
  // While a snapshot is being read, every read uses it.
  const read: ShortRead = (work) =>
    readers.snapshotLink === undefined ? short(work) : work(readers.snapshotLink);
  return {
    organizations: () => read(readOrganizations),
    units: (orgId, streams) => read((link) => readUnits(link, orgId, streams)),
    readinessUnit: (orgId) => read((link) => readReadiness(link, orgId)),
    knownReports: (orgId, page) => read((link) => knownReports(link, orgId, page)),
    reportIds: (orgId) => read((link) => storedReports(link, orgId)),
    state: (orgId, name) => read((link) => readState(link, orgId, name)),
    runs: (limit, orgId) => read((link) => readRuns(link, limit, orgId)),
    quarantineCounts: () => read(readQuarantineCounts),
    restatementCount: (orgId) => read((link) => countRestatements(link, orgId)),
    scan: (table, scope, columns) => readers.scan(table, scope, columns),
    rowsOf: async (table, scope, columns) => {
      const rows: Values[] = [];
      for await (const chunk of readers.scan(table, scope, columns)) rows.push(...chunk);
      return rows;
    },
    select: (query) => readers.read((link) => select(link, query)),
    version: () => readers.read(versionOf),
    inSnapshot: (work) => readers.inSnapshot(work),
  };
}

function unitWritesOf(session: PostgresSession, claims: Claims): UnitWrites {
  const commitDaysOf = (commits: readonly DayCommit[]) =>
    session.transaction(`commit ${namesOf(commits)} to`, (link) => {
      claims.expectHeld(commits.map((day) => dayKey(day.orgId, day)));
      return commitDays(link, commits);
    });
  return {
    commitDay: async (day) =>
      (await commitDaysOf([day]))[0] ?? { rowsWritten: 0, restated: false, units: [] },
    commitDays: commitDaysOf,
    commitReadinessPage: (page) =>
      session.transaction('commit a page of readiness reports to', (link) => {
        claims.expectHeld([readinessKey(page.orgId)]);
        return commitReadinessPage(link, page);
      }),
    endReadinessWalk: (end) =>
      session.transaction('end the readiness walk in', (link) => {
        claims.expectHeld([readinessKey(end.orgId)]);
        return endReadinessWalk(link, end);
      }),
    failUnit: (failure) => session.transaction('record a failure in', (link) => failUnit(link, failure)),
    doubtUnit: (doubt) => session.transaction('record a doubt in', (link) => doubtUnit(link, doubt)),
    noteUnits: (orgId, notes) =>
      session.transaction('note differences in', (link) => noteUnits(link, orgId, notes)),
    reopenDays: (orgId, days) =>
      session.transaction('reopen days in', (link) => reopenDays(link, orgId, days)),
  };
}

function namesOf(commits: readonly DayCommit[]): string {
  const [first] = commits;
  const others = commits.length > 1 ? ` and ${commits.length - 1} other units` : '';
  return first === undefined ? 'nothing' : `${unitName(first)}${others}`;
}
