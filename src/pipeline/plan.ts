import { daysFrom, shiftDay, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { type DailyStream, isDailyStream, type Stream } from '../core/stream.ts';
import { type Contract, isKept } from '../expected/index.ts';
import { askAgain } from '../judge/agreement.ts';
import { type DayUnit, isDayUnit, type LedgerUnit, unitName } from '../units/index.ts';

export interface PlanRequest {
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly streams: readonly Stream[];
  /** The first day whose people are kept. @default null: all are */
  readonly usersFrom?: UtcDay | null;
  /** Pull settled units too. */
  readonly force: boolean;
  readonly newestFirst: boolean;
}

/** What the command line asks for: it narrows this run, and what it leaves out is taken from the contract. */
export interface AskedPlan extends Omit<PlanRequest, 'firstDay' | 'streams' | 'usersFrom'> {
  readonly from?: UtcDay | undefined;
  readonly streams?: readonly Stream[] | undefined;
}

/**
 * What a run pulls under a contract.
 * @throws {UsageError} if days are asked for, and all of them are before the first one.
 */
export function requestUnder(
  contract: Pick<Contract, 'firstDay' | 'streams' | 'usersFrom'>,
  { from, streams, ...asked }: AskedPlan,
): PlanRequest {
  const request = {
    ...asked,
    firstDay: from ?? contract.firstDay,
    streams: streams ?? contract.streams,
    usersFrom: contract.usersFrom,
  };
  const { firstDay, lastDay } = request;
  if (lastDay >= firstDay || !request.streams.some(isDailyStream)) return request;
  throw new UsageError(`no day up to ${lastDay} is expected: the first one is ${firstDay}`, {
    hint: 'say with which day to begin',
    reason: 'before-first-day',
  });
}

/** What a run will pull, in this order. */
export interface Plan {
  readonly units: readonly DayUnit[];
  /** How many units of the request are settled, and so not pulled. */
  readonly settled: number;
  /** Names of those that are asked only for a further look: they come last, in long ranges. */
  readonly looks: ReadonlySet<string>;
  /** Readiness reports never settle: every run that includes the stream walks them. */
  readonly readiness: boolean;
}

/** When a run begins, and by which rule days settle. */
export interface PlanTime {
  readonly now: Date;
  readonly settleDays: number;
}

/**
 * The units of the request that are not settled: never pulled, awaiting, failed, quarantined, doubted, pulled too young, or
 * seen too few times. Of days that have expired, nobody asks for users. A unit that a run has seen on the same day is left to the next day, if it is old enough to settle.
 * Only the ledger decides; the stored data do not.
 */
export function planUnits(request: PlanRequest, ledger: readonly LedgerUnit[], time: PlanTime): Plan {
  const [settled, looks, rested] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const unit of request.force ? [] : ledger.filter(isDayUnit)) {
    // A longer limit brings days back that have expired.
    if (unit.state === 'expired') continue;
    const asked = unit.settledAt === null ? askAgain(unit, time) : 'settled';
    if (asked === 'settled') settled.add(unitName(unit));
    if (asked === 'look') looks.add(unitName(unit));
    if (asked === 'not now') rested.add(unitName(unit));
  }
  const days = daysFrom(request.firstDay, request.lastDay);
  if (request.newestFirst) days.reverse();
  const streams = request.streams.filter(isDailyStream);
  const requested = days.flatMap((day) =>
    streams.filter((stream) => isKept(request, stream, day)).map((stream) => ({ stream, day })),
  );
  const units = requested.filter((unit) => !settled.has(unitName(unit)) && !rested.has(unitName(unit)));
  return {
    units,
    settled: requested.filter((unit) => settled.has(unitName(unit))).length,
    // Looks at other units are no part of this run, and none of what it leaves out.
    looks: new Set(units.map(unitName).filter((name) => looks.has(name))),
    readiness: request.streams.includes('readiness'),
  };
}

/** The streams of which most planned days are only looked at again, so that their ranges may be longer. */
export function mostlyLooks({ units, looks }: Plan): DailyStream[] {
  const streams = new Map<DailyStream, { looks: number; others: number }>();
  for (const unit of units) {
    const count = streams.get(unit.stream) ?? { looks: 0, others: 0 };
    count[looks.has(unitName(unit)) ? 'looks' : 'others'] += 1;
    streams.set(unit.stream, count);
  }
  return [...streams].flatMap(([stream, count]) => (count.looks > count.others ? [stream] : []));
}

/** Consecutive days of one stream that one request pulls. Each day is still committed by itself. */
export interface DayBatch {
  readonly stream: DailyStream;
  /** At least one, ascending, without gaps. */
  readonly days: readonly [UtcDay, ...UtcDay[]];
  /** A range had no rows for these days, so they are requested again. Without rows a second time, they are empty. */
  readonly isGap?: boolean;
  /** Settled days of a range without rows. If the requested day has no row either, they all count as answered without rows. */
  readonly speaksFor?: readonly UtcDay[];
}

/** A batch of all days from one to another. */
export function rangeOf(stream: DailyStream, first: UtcDay, last: UtcDay): DayBatch {
  return { stream, days: [first, ...daysFrom(first, last).slice(1)] };
}

/** Cuts the days of one stream into batches of at most `daysMax` consecutive days, in ascending order. */
export function batchesOf(stream: DailyStream, days: readonly UtcDay[], daysMax: number): DayBatch[] {
  const batches: [UtcDay, ...UtcDay[]][] = [];
  for (const day of days.toSorted()) {
    const last = batches.at(-1);
    const end = last?.at(-1);
    if (last !== undefined && end !== undefined && last.length < daysMax && shiftDay(end, 1) === day)
      last.push(day);
    else batches.push([day]);
  }
  return batches.map((batch) => ({ stream, days: batch }));
}

/** The name of a batch: `tokens 2026-02-01`, `users 2026-02-01 to 2026-02-28`. */
export function batchName({ stream, days }: DayBatch): string {
  const last = days.at(-1);
  return days.length === 1 ? `${stream} ${days[0]}` : `${stream} ${days[0]} to ${last}`;
}
