import { dayOf, daysFrom, shiftDay, type UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import { contractOf, dailyOf, isKept, usersFromOf, whyNotKept } from '../expected/index.ts';
import { LOOKS } from '../judge/looks.ts';
import { parseNotes } from '../judge/notes.ts';
import { readUnits } from '../ledger/index.ts';
import type { Warehouse } from '../port/index.ts';
import { isDayUnit, isSettled, isStored, type LedgerUnit } from '../units/index.ts';
import { type AskedPeriod, type Period, resolvePeriod } from './period.ts';
import type { CoveredDays } from './question.ts';

/** What an answer rests on, and what is asked of the ledger for it. */
interface Sources extends AskedPeriod {
  readonly orgId: string;
  /** The streams that the metric is computed from, at least one. `people` and `prices` come with `users`. */
  readonly streams: readonly Stream[];
}

/** Days that are not settled only because they have been seen too few times: every look so far has found the same. */
export interface FirstLooks {
  readonly days: ReadonlySet<UtcDay>;
  /** The day on which the last of them settles, if nothing changes. */
  readonly settlesOn: UtcDay;
  /** How often the least seen of them has been seen. */
  readonly looks: number;
}

/** The period of an answer, and how well the ledger knows it. */
export interface Provenance extends Period {
  readonly days: CoveredDays;
  /** Why there are no days, as a clause: not kept, see `whyNotKept`, or not exported; null where there are. */
  readonly notKept: string | null;
  /** The first day whose people are kept, if the streams are about people; null if none has expired. */
  readonly usersFrom: UtcDay | null;
  /** Those of the unsettled days that are old; null if there are none. */
  readonly firstLooks: FirstLooks | null;
  /** The run of the unit in the period that changed last; null if none is stored, or if its run is not recorded. */
  readonly run_id: string | null;
  /** True if a day from `first` to `last` is stored. Readiness has no days: true if any report walk was stored. */
  isStored(first: UtcDay, last: UtcDay): boolean;
}

/**
 * Reads from the ledger what an answer rests on. With several streams, a day is stored if it is stored in all of them, and
 * settled if all have settled it. Readiness reports are one unit without days: `days` has none, and `run_id` is the unit's. Of
 * a stream of which nothing is kept, or that is not exported, no day is expected; the period then ends with the newest day of the others.
 * @throws {UsageError} for a period that cannot be, see {@link resolvePeriod}.
 */
export async function readProvenance(
  warehouse: Pick<Warehouse, 'read'>,
  { orgId, streams, from, until }: Sources,
): Promise<Provenance> {
  const units = await readUnits(warehouse, orgId, streams);
  const isAsked = from !== undefined;
  const lacking = streams.filter((stream) => units.every((unit) => unit.stream !== stream));
  const contract = isAsked && lacking.length === 0 ? null : await warehouse.read(() => contractOf(orgId));
  const usersFrom = usersFromOf(units);
  const begin = from ?? laterOf(contract?.firstDay, streams.includes('users') ? usersFrom : null);
  const absent = lacking.find((stream) => contract?.streams.includes(stream) === false);
  const notExported = absent === undefined ? null : `the stream ${absent} is not exported`;
  const notKept = contract && lacking.length > 0 ? (whyNotKept(contract, streams) ?? notExported) : null;
  if (contract !== null && notKept !== null) {
    const others = dailyOf(contract);
    const period = resolvePeriod(await readUnits(warehouse, orgId, others), others, { from, until }, begin);
    return { ...period, ...NOTHING, notKept };
  }
  const period = resolvePeriod(units, streams, { from, until }, begin);
  const isNotExpired = (day: UtcDay) => streams.every((stream) => isKept({ usersFrom }, stream, day));
  const own = units.filter((unit) => isStored(unit) && isIn(period, unit));
  const stored = storedDays(own, streams);
  const isDaily = streams.some((stream) => stream !== 'readiness');
  return {
    ...period,
    days: isDaily
      ? coveredDays(daysFrom(period.from, period.until).filter(isNotExpired), stored)
      : NOTHING.days,
    notKept: null,
    usersFrom,
    firstLooks: firstLooksIn(own, stored),
    run_id: latestOf(own)?.runId ?? null,
    isStored: isDaily
      ? (first, last) => daysFrom(first, last).some((day) => stored.has(day))
      : () => own.some(({ stream }) => stream === 'readiness'),
  };
}

function laterOf(one: UtcDay | undefined, other: UtcDay | null): UtcDay | undefined {
  return one === undefined || other === null || one > other ? one : other;
}

const NOTHING = {
  usersFrom: null,
  days: { expected: 0, settled: 0, unsettled: [], missing: [] },
  firstLooks: null,
  run_id: null,
  isStored: () => false,
} as const;

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

/** The stored days of which every stream is settled or in its first looks. */
function firstLooksIn(
  units: readonly LedgerUnit[],
  stored: ReadonlyMap<UtcDay, { readonly isSettled: boolean }>,
): FirstLooks | null {
  const settles = new Map<UtcDay, UtcDay>();
  const others = new Set<UtcDay>();
  const lastRun = units
    .flatMap(({ lastPulledAt }) => lastPulledAt ?? [])
    .toSorted()
    .at(-1);
  let fewest: number = LOOKS;
  for (const unit of units.filter(isDayUnit)) {
    if (isSettled(unit) || stored.get(unit.day)?.isSettled !== false) continue;
    const { settlesOn, looks } = unit.settledAt === null ? parseNotes(unit.watch) : {};
    if (settlesOn === undefined || looks === undefined || unit.state === 'doubted') {
      others.add(unit.day);
      continue;
    }
    fewest = Math.min(fewest, looks.length);
    // The last run may have left this unit out.
    const earliest =
      lastRun === undefined ? settlesOn : shiftDay(dayOf(new Date(lastRun)), LOOKS - looks.length);
    const ends = settlesOn > earliest ? settlesOn : earliest;
    const before = settles.get(unit.day);
    if (before === undefined || ends > before) settles.set(unit.day, ends);
  }
  const days = [...settles].filter(([day]) => !others.has(day));
  const settlesOn = days
    .map(([, day]) => day)
    .toSorted()
    .at(-1);
  if (settlesOn === undefined) return null;
  return { days: new Set(days.map(([day]) => day)), settlesOn, looks: fewest };
}

function coveredDays(
  days: readonly UtcDay[],
  stored: ReadonlyMap<UtcDay, { readonly isSettled: boolean }>,
): CoveredDays {
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
