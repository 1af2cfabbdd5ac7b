import pg from 'pg';
import { type AnyTable, KINDS } from '../../../schema/define.ts';
import { encoderOf } from '../../../schema/row.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import { UsageError } from '../../core/errors.ts';
import {
  type DayCommit,
  dayKey,
  readinessKey,
  unitName,
  type Value,
  type Values,
  type Warehouse,
} from '../port.ts';
import { Claims } from './claims.ts';
import { commitDays } from './commit-days.ts';
import {
  doubtUnit,
  failUnit,
  noteUnits,
  readReadiness,
  readState,
  readUnits,
  reopenDays,
  writeState,
} from './ledger.ts';
import type { Link } from './link.ts';
import { expectSchema, migrate } from './migrate.ts';
import { oneAtATime, Readers, runSteps, select, versionOf } from './queries.ts';
import { commitReadinessPage, endReadinessWalk, knownReports, storedReports } from './readiness.ts';
import {
  acceptQuarantine,
  countRestatements,
  endRun,
  readOrganizations,
  readQuarantineCounts,
  readRuns,
  refreshStatistics,
  startRun,
  storeHookEvents,
} from './records.ts';
import { changeRows, putRows, tableIn } from './rows.ts';
import { PostgresSession, type PostgresSessionOptions } from './session.ts';
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

/** A row that names nobody, by the types of its columns. */
const EXAMPLES: Readonly<Record<string, Value>> = {
  text: 'none',
  date: '1970-01-01',
  timestamptz: '1970-01-01T00:00:00.000Z',
  'double precision': 0,
  bigint: 0,
  boolean: 0,
  jsonb: '{}',
  json: '{}',
};

/**
 * Measures every table again, see `Warehouse.forgetDeleted`: statistics hold samples of values. PostgreSQL keeps the old
 * statistics of a table that has become empty, so such a table has a row that names nobody while it is measured.
 * @throws {UsageError} if another role owns the tables.
 */
export async function forgetDeleted(link: Link): Promise<void> {
  await expectOwner(link);
  for (const table of allTables) {
    const rows = [{ table, rows: [exampleRow(table)] }];
    const isEmpty = await isEmptyTable(link, table);
    if (isEmpty) await changeRows(link, { put: rows, remove: [] });
    await link.script(`ANALYZE ${tableIn(link, table)}`);
    if (isEmpty) await changeRows(link, { put: [], remove: rows });
  }
}

/** PostgreSQL measures only for the owner, and warns others. */
async function expectOwner(link: Link): Promise<void> {
  const foreign = await link.query(
    `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'
      AND relname = ANY($2) AND NOT pg_has_role(relowner, 'USAGE') LIMIT 1`,
    [pg.escapeIdentifier(link.schema), allTables.map(({ name }) => name)],
  );
  if (foreign.length === 0) return;
  throw new UsageError(
    'the statistics of PostgreSQL may still hold deleted values: another role owns the tables',
    {
      hint: 'repeat the command as the owner of the schema: it resumes',
    },
  );
}

async function isEmptyTable(link: Link, table: AnyTable): Promise<boolean> {
  const rows = await link.query(`SELECT 1 FROM ${tableIn(link, table)} LIMIT 1`, []);
  return rows.length === 0;
}

function exampleRow(table: AnyTable): Value[] {
  return Object.values(table.columns).map(({ kind }) => EXAMPLES[KINDS[kind].postgres] ?? null);
}
