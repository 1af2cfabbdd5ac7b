import { sql } from '../../schema/query.ts';
import { columnsOf, type TableRows } from '../../schema/row.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import type { UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, type DailyStream, STREAMS, type Stream } from '../core/stream.ts';
import type { LedgerSteps, Locked, Steps, Warehouse } from '../port/index.ts';
import {
  type CommitOutcome,
  type DayCommit,
  dayKey,
  type LedgerDay,
  type LedgerReadiness,
  type LedgerUnit,
  pendingUnit,
  rowCount,
  type UnitKey,
  type UnitRecord,
} from '../units/index.ts';
import { noteDrift, replaceQuarantine } from './quarantine.ts';
import { sumsOf, writeRestatement } from './restatements.ts';
import {
  applyDoubt,
  applyExpiry,
  applyFailure,
  applyLook,
  applyReopening,
  type ChangedDay,
  planCommit,
  settleDays,
  type UnitDoubt,
  type UnitFailure,
  type UnitNotes,
} from './transitions.ts';
import { keyValues, unitOfKey, unitOfRow, valuesOfUnit } from './unit-rows.ts';

const { exportUnits } = tables;
const COLUMNS = columnsOf(exportUnits);
const SELECT = sql`SELECT ${sql.raw(COLUMNS.join(', '))} FROM export_units`;

/** The organizations in the ledger. */
export function readOrganizationIds(warehouse: Pick<Warehouse, 'read'>): Promise<string[]> {
  return warehouse.read(function* () {
    const rows = yield sql`SELECT DISTINCT org_id FROM export_units ORDER BY org_id`;
    return rows.map((row) => String(row['org_id']));
  });
}

/**
 * The ledger's rows of an organization.
 * @param streams
 * @default all streams
 */
export function readUnits(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  streams: readonly Stream[] = STREAMS,
): Promise<LedgerUnit[]> {
  const asked = sql.join(
    streams.map((stream) => sql`${stream}`),
    sql`, `,
  );
  return warehouse.read(function* () {
    if (streams.length === 0) return [];
    const rows =
      yield sql`${SELECT} WHERE org_id = ${orgId} AND stream IN (${asked}) ORDER BY org_id, stream, date`;
    return rows.flatMap((row) => unitOfRow(row) ?? []);
  });
}

/** The ledger's row of the readiness reports; null if they were never pulled. */
export async function readReadinessUnit(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
): Promise<LedgerReadiness | null> {
  const [unit] = await readUnits(warehouse, orgId, ['readiness']);
  if (unit?.kind !== 'readiness') return null;
  return unit.state === 'pending' && unit.lastPulledAt === null ? null : unit;
}

/** The ledger's rows of units of one organization, in the order of `keys`; pending ones for units without a row. */
export function* readUnitRows<Key extends UnitKey>(keys: readonly Key[]): Steps<(Key & UnitRecord)[]> {
  if (keys.length === 0) return [];
  const names = keys.map(keyValues);
  const stored = yield { table: exportUnits, find: names, columns: COLUMNS };
  const rows = new Map(stored.map((row) => [`${row['stream']} ${row['date']}`, row]));
  return keys.map((key, index) => unitOfKey(key, rows.get(names[index]?.slice(1).join(' ') ?? '')));
}

/** The rows of units, to be written. */
export function unitRows(units: readonly LedgerUnit[]): TableRows {
  return { table: exportUnits, rows: units.map(valuesOfUnit) };
}

/**
 * Stores days of one organization: upserts their rows, deletes rows of the days that are gone, replaces their quarantine, and
 * writes the ledger and, where published content changed, restatements. A day with the ledger's digest writes no fact row.
 * The rows of all days are written in one step, so that a group of small days costs as much as one day.
 */
export function* commitDays(commits: readonly DayCommit[]): LedgerSteps<CommitOutcome[]> {
  const keys = commits.map((commit) => dayKey(commit.orgId, commit));
  yield { held: keys };
  const units = yield* readUnitRows(keys);
  const plans = units.flatMap((before, index) => {
    const commit = commits[index];
    return commit === undefined
      ? []
      : [{ ...planCommit(before, { ...commit, rows: rowCount(commit) }), commit }];
  });
  const changed = plans.filter(({ writesRows }) => writesRows);
  const written = yield* writeContent(changed);
  yield* replaceQuarantine(commits);
  for (const commit of commits) yield* noteDrift(commit, commit.drift, commit.day);
  const settled = yield* writeSettled(
    plans.map(({ after, commit }) => ({ unit: after, rule: commit.rule, isCommitted: true })),
  );
  return plans.map(({ commit, restated }) => ({
    rowsWritten: written.get(commit) ?? 0,
    restated,
    units: settled.filter(({ day }) => day === commit.day),
  }));
}

interface DayPlan {
  readonly commit: DayCommit;
  readonly before: LedgerDay;
  readonly restated: boolean;
}

/** Writes the rows of changed days, and restatements of those that were published. Returns the rows written for each commit. */
function* writeContent(changed: readonly DayPlan[]): LedgerSteps<ReadonlyMap<DayCommit, number>> {
  if (changed.length === 0) return new Map();
  const restated = changed.filter((plan) => plan.restated);
  const sums: string[] = [];
  for (const { commit, before } of restated) sums.push(yield* sumsOfDay(commit, before.contentSha256));
  const written = yield { days: changed.map(({ commit }) => commit) };
  for (const [index, { commit, before }] of restated.entries()) {
    const after = yield* sumsOfDay(commit, commit.contentSha256);
    yield* writeRestatement(before, commit.pulledAt, { before: sums[index] ?? '{}', after });
  }
  return new Map(changed.map(({ commit }, index) => [commit, Number(written[index]?.['written'] ?? 0)]));
}

function sumsOfDay({ orgId, day, tables: parts }: DayCommit, contentSha256: string | null) {
  return sumsOf(
    parts.map(({ table }) => table),
    sql`org_id = ${orgId} AND date = ${day}`,
    contentSha256,
  );
}

/**
 * Writes the ledger's rows of changed units of one organization, and of other units that settle or open again with
 * them. Returns all written rows. Workers that change the same day take turns, so that the last one sees what the
 * others committed. Take these steps last in a transaction that sees the latest.
 */
export function* writeSettled(changed: readonly ChangedDay[]): Steps<LedgerDay[]> {
  const [first] = changed;
  if (first === undefined) return [];
  const { orgId } = first.unit;
  const days = [...new Set(changed.map(({ unit }) => unit.day))];
  const units = settleDays(changed, yield* lockUnits(orgId, days));
  yield unitRows(units);
  return units;
}

/** Locks days against other workers, and reads their units. */
export function* lockUnits(orgId: string, days: readonly UtcDay[]): Steps<LedgerDay[]> {
  yield lockOf(orgId, days);
  return yield* readUnitRows(
    days.flatMap((day) => DAILY_STREAMS.map((stream) => dayKey(orgId, { stream, day }))),
  );
}

/** Locks days against other workers. */
export function lockOf(orgId: string, days: readonly UtcDay[]): Locked {
  return { lock: [...new Set(days)].map((day) => ['day', orgId, day]) };
}

/** Records that a pull failed. */
export async function failUnit(warehouse: Pick<Warehouse, 'transact'>, failure: UnitFailure): Promise<void> {
  const steps = function* (): Steps<void> {
    for (const before of yield* readUnitRows([failure.unit])) {
      const unit = applyFailure(before, failure);
      if (unit.kind === 'readiness') yield unitRows([unit]);
      else yield* writeSettled([{ unit, rule: failure.rule, isCommitted: false }]);
    }
  };
  await warehouse.transact('record a failure in', steps, 'latest');
}

/** Records that an answer is doubted. Returns the new ledger row. */
export function doubtUnit(warehouse: Pick<Warehouse, 'transact'>, doubt: UnitDoubt): Promise<LedgerDay> {
  const steps = function* (): Steps<LedgerDay> {
    const [before = pendingUnit(doubt.unit)] = yield* readUnitRows([doubt.unit]);
    const unit = applyDoubt(before, doubt);
    yield* writeSettled([{ unit, rule: doubt.rule, isCommitted: false }]);
    return unit;
  };
  return warehouse.transact('record a doubt in', steps, 'latest');
}

/** Writes the notes of settled units. Units that are open again do not change. Returns the ledger's rows. */
export function noteUnits(
  warehouse: Pick<Warehouse, 'transact'>,
  orgId: string,
  notes: readonly UnitNotes[],
): Promise<LedgerDay[]> {
  const steps = function* (): Steps<LedgerDay[]> {
    yield lockOf(
      orgId,
      notes.map(({ day }) => day),
    );
    const units = yield* readUnitRows(notes.map((look) => dayKey(orgId, look)));
    const noted = notes.flatMap((look, index) => {
      const unit = units[index];
      return unit === undefined ? [] : [applyLook(unit, look)];
    });
    yield unitRows(noted);
    return noted;
  };
  return warehouse.transact('note differences in', steps, 'latest');
}

/** A settled day to pull again. */
interface ReopenedDay {
  readonly day: UtcDay;
  /** The streams to pull again. */
  readonly streams: readonly DailyStream[];
}

/** Opens settled units again, all or none. Returns their new ledger rows. */
export function reopenDays(
  warehouse: Pick<Warehouse, 'transact'>,
  orgId: string,
  days: readonly ReopenedDay[],
): Promise<LedgerDay[]> {
  const keys = days.flatMap(({ day, streams }) => streams.map((stream) => dayKey(orgId, { stream, day })));
  const steps = function* (): Steps<LedgerDay[]> {
    yield lockOf(
      orgId,
      days.map(({ day }) => day),
    );
    const known = (yield* readUnitRows(keys)).filter(({ state }) => state !== 'pending');
    const units = known.map(applyReopening);
    yield unitRows(units);
    return units;
  };
  return warehouse.transact('reopen days in', steps, 'latest');
}

/** Tables of the ledger with texts about a unit. */
const ABOUT_UNITS = [tables.quarantine, tables.restatements];

/**
 * Removes the rows of `users` of a day, with their restatements and records in quarantine, and marks the day as expired, all or nothing.
 * Rows about people in other streams pass the gate before. May be repeated.
 * @param at when, as an ISO instant
 */
export function expireDay(
  warehouse: Pick<Warehouse, 'transact'>,
  orgId: string,
  { day, at }: { readonly day: UtcDay; readonly at: string },
): Promise<void> {
  const steps = function* (): Steps<void> {
    yield lockOf(orgId, [day]);
    for (const table of tablesOf('users'))
      yield sql`DELETE FROM ${sql.identifier(table.name)} WHERE org_id = ${orgId} AND date = ${day}`;
    for (const table of ABOUT_UNITS)
      yield sql`DELETE FROM ${sql.identifier(table.name)}
        WHERE org_id = ${orgId} AND stream = 'users' AND date = ${day}`;
    const units = yield* readUnitRows([dayKey(orgId, { stream: 'users', day })]);
    const open = units.filter(({ state }) => state !== 'expired');
    yield unitRows(open.map((unit) => applyExpiry(unit, at)));
  };
  return warehouse.transact('remove expired people from', steps, 'latest');
}
