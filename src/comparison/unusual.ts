import { daysFrom, shiftDay, type UtcDay } from '../core/day.ts';

/** What can be unusual: a day of the whole organization, or a part of it on a day. */
export const UNUSUAL_KINDS = ['date', 'team', 'model', 'user'] as const;

/** One of {@link UNUSUAL_KINDS}. */
export type UnusualKind = (typeof UNUSUAL_KINDS)[number];

/** The values of the organization, or of a part of it, by day. A stored day without a value is 0. */
export interface Series {
  readonly kind: UnusualKind;
  /** Null for the organization, and for users without a team. */
  readonly name: string | null;
  readonly values: ReadonlyMap<UtcDay, number>;
}

/** A value that is far from those of the same weekday before. */
export interface UnusualValue {
  readonly dimension: UnusualKind;
  readonly name: string | null;
  readonly date: UtcDay;
  readonly value: number;
  /** Of the same weekday in the weeks before; 0 for what was not there. */
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** What was looked at, and what of it is unusual. */
export interface Unusual {
  /** By date, then by kind; the largest first. */
  readonly rows: readonly UnusualValue[];
  /** How many values were compared, by kind. */
  readonly looked_at: Readonly<Record<UnusualKind, number>>;
}

/** How many weeks before a day count. docs/comparison.md names it. */
export const WEEKS_BEFORE = 13;
/** With fewer days of the same weekday nothing can be said. */
const REFERENCES_MIN = 6;
/** Parts that were there on fewer of these days have no usual value. */
const PRESENT_MIN = 4;

/** The standard deviation of normal numbers, by their median absolute deviation. */
const SIGMA_OF_MAD = 1.4826;
/** How often something may be found where nothing is: in one week of twenty, over all values of a kind. */
const ERROR_RATE = 0.05;
/** The least spread as a share of the median: days of equal values would make any other one unusual. */
const SPREAD_LEAST = 0.1;
/**
 * How many times a value must be above the largest, or below the smallest, of the days before. Found with the organizations of
 * test/unit/comparison/unusual.test.ts.
 */
const BEYOND: Readonly<Record<UnusualKind, number>> = { date: 1.55, team: 2.8, model: 3, user: 2.2 };
/**
 * How far a value must at least be from its median, as a share of the usual value of the organization on its largest day of the week: a
 * weekend with one person at work is no matter.
 */
const MATTERS: Readonly<Record<UnusualKind, number>> = { date: 0.35, team: 0.3, model: 0.3, user: 0.01 };
/** The same for a value that is too low, as a share of it: what is there for several days stops less often than it jumps. */
const MATTERS_LOW = 0.2;
/** A part that was not there before is unusual with this share of the organization's usual value. */
const NEW_SHARE = 0.3;
/** A team or a model has stopped if it is below its low on so many days. A user may be away. */
const LOW_DAYS_MIN = 2;

/**
 * Compares each value of some days with those of the same weekday in the thirteen weeks before: the median, and the median
 * absolute deviation. Keeps no state.
 * @param compared the days that are stored and not closed; others say nothing
 */
export function findUnusual(
  all: readonly Series[],
  {
    from,
    until,
    compared,
  }: { readonly from: UtcDay; readonly until: UtcDay; readonly compared: ReadonlySet<UtcDay> },
): Unusual {
  const days = daysFrom(from, until).filter((day) => compared.has(day));
  const references = new Map(days.map((day) => [day, referencesOf(day, compared)]));
  const usable = days.filter((day) => (references.get(day)?.length ?? 0) >= REFERENCES_MIN);
  const usual = usualOf(all, usable, references);
  const looked = { date: 0, team: 0, model: 0, user: 0 };
  const rows: UnusualValue[] = [];
  for (const kind of UNUSUAL_KINDS) {
    const own = all.filter((series) => series.kind === kind);
    const comparisons = own.map((series) => comparisonsOf(series, { days: usable, references, usual }));
    looked[kind] = comparisons.reduce((sum, values) => sum + values.length, 0);
    const factor = tailFactor(looked[kind]);
    const least = MATTERS[kind] * Math.max(0, ...usual.values());
    for (const values of comparisons) {
      const judged = values
        .filter((value) => !isUsual(value))
        .map((value) => judge(value, { factor, least }));
      const low = judged.filter(({ value, low }) => value < low);
      const isLow = kind === 'date' || (kind !== 'user' && low.length >= LOW_DAYS_MIN);
      rows.push(...judged.filter(({ value, high }) => value > high), ...(isLow ? low : []));
    }
  }
  return { rows: rows.toSorted(byDate), looked_at: looked };
}

/** The days of the same weekday in the weeks before. */
function referencesOf(day: UtcDay, compared: ReadonlySet<UtcDay>): UtcDay[] {
  return Array.from({ length: WEEKS_BEFORE }, (_, index) => shiftDay(day, -7 * (index + 1))).filter((other) =>
    compared.has(other),
  );
}

/** The usual value of the organization on each day. */
function usualOf(
  all: readonly Series[],
  days: readonly UtcDay[],
  references: ReadonlyMap<UtcDay, readonly UtcDay[]>,
): ReadonlyMap<UtcDay, number> {
  const values = all.find(({ kind }) => kind === 'date')?.values;
  return new Map(
    days.map((day) => [day, medianOf((references.get(day) ?? []).map((other) => values?.get(other) ?? 0))]),
  );
}

interface Compared {
  readonly series: Series;
  readonly date: UtcDay;
  readonly value: number;
  readonly before: readonly number[];
  /** The least value at which a part that was not there before is unusual. */
  readonly newFrom: number | null;
}

interface Comparing {
  readonly days: readonly UtcDay[];
  readonly references: ReadonlyMap<UtcDay, readonly UtcDay[]>;
  readonly usual: ReadonlyMap<UtcDay, number>;
}

/** The values of a series that can be compared. */
function comparisonsOf(series: Series, { days, references, usual }: Comparing): Compared[] {
  return days.flatMap((date): Compared[] => {
    const before = (references.get(date) ?? []).map((other) => series.values.get(other) ?? 0);
    const value = series.values.get(date) ?? 0;
    const present = before.filter((number) => number > 0).length;
    if (present >= PRESENT_MIN) return [{ series, date, value, before, newFrom: null }];
    // A new person has no usual day; a new team or model is unusual if it is large.
    const newFrom = (usual.get(date) ?? 0) * NEW_SHARE;
    if (series.kind === 'user' || series.kind === 'date' || newFrom === 0) return [];
    return [{ series, date, value, before, newFrom }];
  });
}

/** The values of all weekdays in the same weeks. */
function daysBefore({ values }: Series, date: UtcDay): number[] {
  const [first, last] = [shiftDay(date, -7 * WEEKS_BEFORE), shiftDay(date, -7)];
  return [...values].flatMap(([day, value]) => (day >= first && day <= last && value > 0 ? value : []));
}

/** True for most values of people, without a look at all of their days: only more than ever before is unusual of a person. */
function isUsual({ series: { kind }, value, before }: Compared): boolean {
  return kind === 'user' && value <= BEYOND.user * Math.max(...before);
}

interface Bounds {
  /** How many standard deviations a value may be away. */
  readonly factor: number;
  /** The least distance that matters. */
  readonly least: number;
}

function judge(
  { series, date, value, before, newFrom }: Compared,
  { factor, least: matters }: Bounds,
): UnusualValue {
  const { kind, name } = series;
  // A few days of one weekday say little about a person whose days differ much.
  const above = kind === 'user' ? daysBefore(series, date) : before;
  const median = medianOf(before);
  const deviation = SIGMA_OF_MAD * medianOf(before.map((number) => Math.abs(number - median)));
  const spread = Math.max(deviation, median * SPREAD_LEAST, Math.sqrt(median));
  const least = Math.min(...before);
  const far = kind === 'user' ? farInLogs(above, factor) : median + factor * spread;
  const high = Math.max(far, median + matters, BEYOND[kind] * Math.max(...above), newFrom ?? 0);
  const low =
    newFrom !== null
      ? 0
      : lowOf({
          ...{ median, least: least / BEYOND[kind], spread: factor * spread },
          matters: matters * (kind === 'date' ? 1 : MATTERS_LOW),
        });
  return { dimension: kind, name, date, value, median, low, high };
}

/** So many spreads above the median, on a scale of ratios: the days of a person differ by factors. */
function farInLogs(values: readonly number[], factor: number): number {
  const logs = values.map(Math.log);
  const median = medianOf(logs);
  const deviation = SIGMA_OF_MAD * medianOf(logs.map((log) => Math.abs(log - median)));
  return Math.exp(median + factor * Math.max(deviation, SPREAD_LEAST));
}

/** The low is on a scale of ratios, because no value is below 0. */
function lowOf({
  median,
  least,
  spread,
  matters,
}: Readonly<Record<'median' | 'least' | 'spread' | 'matters', number>>): number {
  if (median === 0) return 0;
  return Math.max(0, Math.min(median / (1 + spread / median), least, median - matters));
}

/** How many standard deviations the largest of so many normal numbers is away at most, but for {@link ERROR_RATE}. */
function tailFactor(count: number): number {
  return Math.sqrt(2 * Math.log(Math.max(1, count) / ERROR_RATE));
}

/** The middle of some numbers; 0 of none. */
function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

function byDate(a: UnusualValue, b: UnusualValue): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1;
  const kinds = UNUSUAL_KINDS.indexOf(a.dimension) - UNUSUAL_KINDS.indexOf(b.dimension);
  return kinds === 0 ? b.value - a.value : kinds;
}
