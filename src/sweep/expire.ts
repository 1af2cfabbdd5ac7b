import { type SQL, sql } from '../../schema/query.ts';
import { tables, tablesOf, WITHHELD_RECORD } from '../../schema/tables.ts';
import { sweepArchived } from '../archive/index.ts';
import type { Clock } from '../core/clock.ts';
import { daysFrom, isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { DAILY_STREAMS } from '../core/stream.ts';
import { contractOf } from '../expected/index.ts';
import { sweptTable, throughGate } from '../kept-out/index.ts';
import { expireDay, readOrganizationIds } from '../ledger/index.ts';
import { changeRows, type RunLock, runReads, type Steps, type Warehouse } from '../port/index.ts';
import { columnKind, type Gate } from '../privacy/index.ts';
import { refreshRollups } from '../rollups/index.ts';
import { dayKey } from '../units/index.ts';
import { contentOf, type Sweep, sweepTable, sweepUnit, Tally } from './sweep-rows.ts';

/** The tables with rows about one person and one day. */
const OF_PERSONS = [...tablesOf('users'), ...tablesOf('tokens')].filter((table) =>
  table.key.some((name) => columnKind(name) === 'id'),
);
/** Which people have expired: those of an organization, of all days before one. */
export interface ExpiryScope {
  readonly orgId: string;
  /** The first day whose people are kept. */
  readonly before: UtcDay;
}

/** The rows about one person of days that have expired. */
export function* countExpiredRows(scope: ExpiryScope): Steps<number> {
  let counted = 0;
  for (const table of OF_PERSONS) {
    const [row] =
      yield sql`SELECT COUNT(*) AS found FROM ${sql.identifier(table.name)} WHERE ${isExpired(scope)}`;
    counted += Number(row?.['found'] ?? 0);
  }
  return counted;
}

/**
 * The days whose people are to expire, oldest first: those that are not marked so, and those that have rows about a person all the same.
 * @param firstDay from here on, days that were never pulled expire too; null if users are not expected
 */
export function* readExpiringDays(scope: ExpiryScope, firstDay: UtcDay | null): Steps<UtcDay[]> {
  const { orgId, before } = scope;
  const units = yield sql`
    SELECT date, state FROM export_units WHERE org_id = ${orgId} AND stream = 'users' AND date < ${before}`;
  const days = new Set<unknown>(units.flatMap(({ date, state }) => (state === 'expired' ? [] : [date])));
  if (firstDay !== null && firstDay < before) {
    const known = new Set<unknown>(units.map(({ date }) => date));
    for (const day of daysFrom(firstDay, shiftDay(before, -1))) if (!known.has(day)) days.add(day);
  }
  for (const table of OF_PERSONS) {
    const name = sql.identifier(table.name);
    const rows = yield sql`SELECT DISTINCT CAST(date AS TEXT) AS day FROM ${name} WHERE ${isExpired(scope)}`;
    for (const { day } of rows) days.add(day);
  }
  return [...days].filter(isDay).toSorted();
}

function isExpired({ orgId, before }: ExpiryScope): SQL {
  return sql`org_id = ${orgId} AND date < ${before}`;
}

/** What expires, and where. */
export interface ExpiryOptions {
  readonly warehouse: Warehouse;
  /** Opened with the first day whose people are kept. */
  readonly gate: Gate;
  /** Claims units, so that no other worker writes a day meanwhile. Null only counts. */
  readonly lock: Pick<RunLock, 'claim' | 'free'> | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before the days of an organization expire. @default nothing */
  readonly begin?: () => Promise<void>;
}

/** People that have expired. */
export interface ExpiredPeople {
  /** The first day whose people are kept. */
  readonly before: UtcDay;
  /** Days of organizations that were marked as expired, or would be. */
  readonly days: number;
  /** Rows about one person and one day that were removed, or would be. */
  readonly rows: number;
  /** Archived answers that were rewritten or removed, or would be. */
  readonly answers: number;
}

/**
 * Removes the people of days that have expired from the warehouse, a day at a time, the oldest first. A day that another worker writes is left
 * to the next call. After a kill, a repetition does the rest. Rollups follow; see {@link refreshExpired}.
 * @returns null if no day expires
 */
export async function expirePeople(options: ExpiryOptions): Promise<ExpiredPeople | null> {
  const { warehouse, gate } = options;
  const { usersFrom: before } = gate;
  if (before === null || !gate.keepsPeople) return null;
  const done = { before, days: 0, rows: 0, answers: 0 };
  for (const orgId of await readOrganizationIds(warehouse)) {
    gate.passFor(orgId);
    const { firstDay, streams } = await runReads(warehouse, contractOf(orgId));
    const begin = streams.includes('users') ? firstDay : null;
    // Their days may be older than any day of the service.
    await sweepTable(sweepOf(options, orgId), tables.events, orgId);
    const days = await runReads(warehouse, readExpiringDays({ orgId, before }, begin));
    if (days.length === 0) continue;
    const rows = await runReads(warehouse, countExpiredRows({ orgId, before }));
    done.rows += rows;
    if (options.lock !== null) {
      await options.begin?.();
      // Before the days are marked: after a kill, nothing else would lead here again.
      await sweepTable(sweepOf(options, orgId), tables.schemaDrift, orgId);
    }
    for (const day of days) if (await expire(options, orgId, day)) done.days += 1;
    if (options.lock !== null) done.rows -= await runReads(warehouse, countExpiredRows({ orgId, before }));
  }
  return done;
}

function sweepOf({ warehouse, gate, signal, lock }: ExpiryOptions, orgId: string): Sweep {
  const passing = throughGate(gate);
  const rest = { values: [], dropsDamaged: false, tally: new Tally() };
  return { ...rest, warehouse, orgId, passing, isDryRun: lock === null, signal };
}

/** @returns false if another worker writes the day */
async function expire(options: ExpiryOptions, orgId: string, day: UtcDay): Promise<boolean> {
  const { warehouse, lock, clock, signal } = options;
  signal.throwIfAborted();
  if (lock === null) return true;
  const units = DAILY_STREAMS.map((stream) => dayKey(orgId, { stream, day }));
  const claimed = await lock.claim(units);
  try {
    if (claimed.length < units.length) return false;
    const sweep = sweepOf(options, orgId);
    for (const stream of DAILY_STREAMS)
      if (stream !== 'users') await sweepUnit(sweep, stream, { orgId, firstDay: day, lastDay: day });
    await sweepTexts(sweep, day);
    // The mark comes last, so that after a kill the day is found again.
    await expireDay(warehouse, orgId, { day, at: clock.now().toISOString() });
    return true;
  } finally {
    await lock.free(claimed);
  }
}

/** Lets what the ledger says about the other streams of a day pass the gate: doubts, restatements, records in quarantine. */
async function sweepTexts({ warehouse, orgId, passing }: Sweep, day: UtcDay): Promise<void> {
  for (const table of [tables.exportUnits, tables.restatements, tables.quarantine]) {
    const rows = await warehouse.rowsOf(table, { orgId, firstDay: day, lastDay: day });
    const pass = passing.rowsOf(table);
    // The unit of users is marked with the day.
    const isUnits = table === tables.exportUnits;
    const { put, removed } = sweptTable(table, rows, (row) => pass(row) ?? (isUnits ? row : null));
    if (put.length + removed.length > 0)
      await changeRows(warehouse, { put: [{ table, rows: put }], remove: [{ table, rows: removed }] });
  }
}

/** Computes the rollups of every organization again that rest on what has expired. */
export async function refreshExpired({ warehouse, clock, signal }: ExpiryOptions): Promise<void> {
  for (const orgId of await readOrganizationIds(warehouse))
    await refreshRollups(warehouse, { orgId, now: clock.now(), signal });
}

/**
 * Removes the people of days that have expired from an archive: answers about users go, and the others lose the people. May be repeated.
 * @returns how many answers
 * @throws {BusyError} while another process removes answers.
 */
export async function expireArchived(
  archive: string,
  { warehouse, gate, clock, signal, lock }: ExpiryOptions,
): Promise<number> {
  const { usersFrom: before } = gate;
  if (before === null || !gate.keepsPeople) return 0;
  const people = throughGate(gate);
  let changed = 0;
  for (const orgId of await readOrganizationIds(warehouse)) {
    gate.passFor(orgId);
    const options = { warehouse, people, contentOf, clock, signal, isDryRun: lock === null };
    const expired = { ...options, orgId, before, dropsDamaged: false };
    const { answers } = await sweepArchived(archive, expired);
    changed += answers;
  }
  return changed;
}

/** Records that lose their text in one transaction. */
const WITHHELD_MAX = 1_000;

const isOld = (before: Date) =>
  sql`first_seen_at < ${before.toISOString()} AND CAST(record AS TEXT) <> ${WITHHELD_RECORD}`;

/** Counts the records in quarantine that were first seen before an instant and have their text. */
export function countOldRecords(warehouse: Pick<Warehouse, 'read'>, before: Date): Promise<number> {
  return warehouse.read(function* () {
    const [row] = yield sql`SELECT COUNT(*) AS old FROM quarantine WHERE ${isOld(before)}`;
    return Number(row?.['old'] ?? 0);
  });
}

/**
 * Removes the text of records in quarantine that were first seen before an instant, some at a time. The row stays, with the reason, the place and
 * the digest: a pull that brings the record again finds it, and does not bring its text back. After a kill, a repetition removes the rest.
 * @returns how many there were
 */
export async function withholdRecords(
  warehouse: Pick<Warehouse, 'read' | 'transact'>,
  before: Date,
  signal: AbortSignal,
): Promise<number> {
  const old = await countOldRecords(warehouse, before);
  for (let left = old; left > 0; left -= WITHHELD_MAX) {
    signal.throwIfAborted();
    await warehouse.transact('remove old records from the quarantine of', function* () {
      yield sql`UPDATE quarantine SET record = ${WITHHELD_RECORD}
        WHERE (org_id, stream, date, record_sha256) IN (
          SELECT org_id, stream, date, record_sha256 FROM quarantine WHERE ${isOld(before)} LIMIT ${WITHHELD_MAX})`;
    });
  }
  return old;
}
