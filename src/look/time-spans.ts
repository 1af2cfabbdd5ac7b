import type { Grain } from '../../schema/metrics/dictionary.ts';
import { comparedSpan, isKeptIn, whyNotCompared } from '../comparison/index.ts';
import {
  daysFrom,
  FIRST_DAY,
  monthEndOf,
  monthOf,
  parseDay,
  shiftDay,
  type UtcDay,
  weekdayOf,
} from '../core/day.ts';
import { spanStart } from '../expected/index.ts';
import type { Period } from '../metrics/index.ts';
import { type Basis, type Openness, opennessOf, type Result } from './numbers.ts';
import type { Filters } from './reader.ts';
import { dayName, lengthOf, periodWords } from './words.ts';

export { NO_SPAN_BEFORE } from '../comparison/index.ts';

/** The end of a span, and what it may not begin before. */
type SpanEnd = Pick<Filters, 'until' | 'firstDay'>;

/** The period before one, for comparisons, see `comparedSpan`. */
export function periodBefore(filters: Period & SpanEnd & Pick<Filters, 'comparison'>): Period | null {
  return comparedSpan(filters, filters.comparison ?? 'previous', filters);
}

/** The last complete weeks before a day ends, Monday to Sunday: the first and the last day of all of them. */
export function completeWeeks({ until, firstDay }: SpanEnd, weeks: number): Period | null {
  const last = shiftDay(until, -(weekdayOf(until) % 7));
  const from = mondayFrom(spanStart(shiftDay(last, 1 - 7 * weeks), until, { firstDay }));
  return from > last ? null : { from, until: last };
}

/** The first Monday that is not before a day: a week that has begun by then is not complete. */
function mondayFrom(day: UtcDay): UtcDay {
  return shiftDay(day, (8 - weekdayOf(day)) % 7);
}

/** The months up to the one of a day, which may be cut: from the first day of the first of them to that day. */
export function monthsUntil({ until, firstDay }: SpanEnd, months: number): Period {
  let from = monthOf(until);
  for (let count = 1; count < months && from > FIRST_DAY; count += 1) from = monthOf(shiftDay(from, -1));
  return { from: spanStart(from, until, { firstDay }), until };
}

/** The first and last day of a bucket: a day, the Monday of a week, or a month `YYYY-MM`. */
function bucketPeriod(grain: Grain, bucket: string): Period {
  if (grain === 'month') {
    const from = parseDay(`${bucket}-01`);
    return { from, until: monthEndOf(from) };
  }
  const from = parseDay(bucket);
  return { from, until: grain === 'week' ? shiftDay(from, 6) : from };
}

/** Whether the number of a bucket may still change; null if all of its days are there and settled. */
export function bucketOpenness(
  { basis }: Pick<Result, 'basis'>,
  grain: Grain,
  bucket: string,
): Openness | null {
  const whole = bucketPeriod(grain, bucket);
  const days = clip(whole, basis);
  const open = opennessOf(basis, daysFrom(days.from, days.until));
  if (whole.until <= basis.until) return open ?? null;
  const running = `the days after ${dayName(basis.until)} are not in it`;
  const share = Math.max(1 - lengthOf(days) / lengthOf(whole), open?.share ?? 0);
  return { why: open === undefined ? running : `${running}; ${open.why}`, share };
}

/** Why a bucket has no value: none of its days is stored, or what limits the answer, such as a missing price. */
export function whyNoValue(
  { basis, warnings }: Pick<Result, 'basis' | 'warnings'>,
  grain: Grain,
  bucket: string,
): string {
  const { from, until } = clip(bucketPeriod(grain, bucket), basis);
  const missing = basis.days.missing.filter((day) => day >= from && day <= until).length;
  if (missing < lengthOf({ from, until })) return warnings[0] ?? 'it has no value then';
  return grain === 'date' ? 'the day is not stored' : `no day of the ${grain} is stored`;
}

/** The buckets of an answer, in its order. Each occurs once, whatever the groups. */
export function bucketsOf({ rows }: Pick<Result, 'rows'>, grain: Grain): readonly string[] {
  return [...new Set(rows.map((row) => String(row[grain])))];
}

function clip({ from, until }: Period, basis: Basis): Period {
  return {
    from: from < basis.from ? basis.from : from,
    until: until > basis.until ? basis.until : until,
  };
}

/** What the buckets of a figure are: `13 complete weeks, 17 August to 15 November`, `3 months, 1 September to 19 November`. */
export function bucketWords(grain: Grain, period: Period, buckets: number): string {
  const count = grain === 'date' ? lengthOf(period) : buckets;
  const kind = { date: 'day', week: 'complete week', month: 'month' }[grain];
  return `${count} ${kind}${count === 1 ? '' : 's'}, ${periodWords(period)}`;
}

/** The heading of the first column of a table with a row per bucket. */
export const BUCKET_TITLES: Readonly<Record<Grain, string>> = {
  date: 'Day',
  week: 'Week from',
  month: 'Month',
};

/** Complete weeks that a figure shows, whatever the period is: a quarter. */
export const WEEKS = 13;

/** What a figure of complete weeks says while there is none. */
export function noWeek({ until, firstDay }: SpanEnd): string {
  const sunday = shiftDay(mondayFrom(spanStart(FIRST_DAY, until, { firstDay })), 6);
  return `The first complete week, from Monday to Sunday, ends on ${dayName(sunday)} ${sunday.slice(0, 4)}.`;
}

/** Why the answers about two spans cannot be compared, see `whyNotCompared`. */
export function holeIn(
  now: Pick<Result, 'basis' | 'unit' | 'warnings'>,
  then: Pick<Result, 'basis' | 'unit' | 'warnings'>,
): string | undefined {
  const [expired] = [now, then].filter(({ basis }) => !isKeptIn(basis));
  return whyNotCompared({ ...now, ...now.basis }, { ...then, ...then.basis }) ?? expired?.warnings[0];
}
