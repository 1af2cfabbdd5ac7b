import { daysFrom, type UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import { readUnits } from '../ledger/index.ts';
import type { Warehouse } from '../port/index.ts';
import { isDayUnit, type LedgerUnit } from '../units/index.ts';
import { type AskedPeriod, isStored, type Period, resolvePeriod } from './period.ts';
import type { CoveredDays } from './question.ts';

/** What an answer rests on, and what is asked of the ledger for it. */
interface Sources extends AskedPeriod {
  readonly orgId: string;
  /** The streams that the metric is computed from, at least one. `people` and `prices` come with `users`. */
  readonly streams: readonly Stream[];
}

/** The period of an answer, and how well the ledger knows it. */
interface Provenance extends Period {
  readonly days: CoveredDays;
  /** The run of the unit in the period that changed last; null if none is stored, or if its run is not recorded. */
  readonly run_id: string | null;
  /** True if a day from `first` to `last` is stored. Readiness has no days: true if any report walk was stored. */
  isStored(first: UtcDay, last: UtcDay): boolean;
}

/**
 * Reads from the ledger what an answer rests on. With several streams, a day is stored if it is stored in all of them, and
 * settled if all have settled it. Readiness reports are one unit without days: `days` has none, and `run_id` is the unit's.
 * @throws {UsageError} for a period that cannot be, see {@link resolvePeriod}.
 */
export async function readProvenance(
  warehouse: Pick<Warehouse, 'read'>,
  { orgId, streams, from, until }: Sources,
): Promise<Provenance> {
  const units = await readUnits(warehouse, orgId, streams);
  const period = resolvePeriod(units, streams, { from, until });
  const own = units.filter((unit) => isStored(unit) && isIn(period, unit));
  const stored = storedDays(own, streams);
  const hasReports = own.some(({ stream }) => stream === 'readiness');
  const isDaily = streams.some((stream) => stream !== 'readiness');
  return {
    ...period,
    days: isDaily ? coveredDays(period, stored) : { expected: 0, settled: 0, unsettled: [], missing: [] },
    run_id: latestOf(own)?.runId ?? null,
    isStored: isDaily
      ? (first, last) => daysFrom(first, last).some((day) => stored.has(day))
      : () => hasReports,
  };
}

function isIn({ from, until }: Period, unit: LedgerUnit): boolean {
  return !isDayUnit(unit) || (unit.day >= from && unit.day <= until);
}

/** The days that every daily stream has stored, and whether all have settled them. */
function storedDays(
  units: readonly LedgerUnit[],
  streams: readonly Stream[],
): Map<UtcDay, { readonly isSettled: boolean }> {
  const needed = streams.filter((stream) => stream !== 'readiness').length;
  const byDay = new Map<UtcDay, LedgerUnit[]>();
  for (const unit of units.filter(isDayUnit)) byDay.set(unit.day, [...(byDay.get(unit.day) ?? []), unit]);
  const whole = [...byDay].filter(([, own]) => own.length === needed);
  return new Map(whole.map(([day, own]) => [day, { isSettled: own.every(isSettled) }]));
}

/** A doubted unit is open. A unit that settled by its age alone was never confirmed. */
function isSettled({ state, settledAt, confirmed }: LedgerUnit): boolean {
  return settledAt !== null && state !== 'doubted' && confirmed !== 'age';
}

function coveredDays(
  { from, until }: Period,
  stored: ReadonlyMap<UtcDay, { readonly isSettled: boolean }>,
): CoveredDays {
  const days = daysFrom(from, until);
  const missing = days.filter((day) => !stored.has(day));
  const unsettled = days.filter((day) => stored.get(day)?.isSettled === false);
  const settled = days.length - missing.length - unsettled.length;
  return { expected: days.length, settled, unsettled, missing };
}

/** The unit that changed last. Of several at one instant, the one of the latest day. */
function latestOf(units: readonly LedgerUnit[]): LedgerUnit | undefined {
  const instantOf = ({ changedAt }: LedgerUnit) => changedAt ?? '';
  return units.reduce<LedgerUnit | undefined>(
    (latest, unit) => (latest === undefined || instantOf(unit) >= instantOf(latest) ? unit : latest),
    undefined,
  );
}
