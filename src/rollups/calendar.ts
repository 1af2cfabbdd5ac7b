import { type SQL, sql, workingDay } from '../../schema/query.ts';
import { encoderOf, type RowOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import {
  dayOf,
  daysBetween,
  daysFrom,
  FIRST_DAY,
  isoWeekOf,
  monthEndOf,
  monthOf,
  shiftDay,
  shiftYears,
  type UtcDay,
  weekdayOf,
} from '../core/day.ts';
import type { Steps } from '../port/index.ts';

/** A unit of `users` or `tokens` with stored content, as the ledger has it. */
export interface StoredDay {
  readonly day: UtcDay;
  /** Number of rows of the unit in all its tables. */
  readonly rows: number;
  readonly contentSha256: string;
}

/** Selects the working days of an organization in a span: Mondays to Fridays that no event closes for all. */
export function workingDays(orgId: string, { from, until }: { from: UtcDay; until: UtcDay }): SQL {
  return sql`SELECT d.date FROM (SELECT ${orgId} AS org_id) o CROSS JOIN dates d
WHERE d.date BETWEEN ${from} AND ${until} AND ${sql.raw(workingDay('d', 'o.org_id'))} = 1 ORDER BY d.date`;
}

/** What a rollup computes at once: a week, a month, or days of one month that follow each other. */
export interface Bucket {
  readonly rollup: 'weekly' | 'monthly' | 'teams' | 'models';
  /** The Monday of the week, the month as `YYYY-MM`, or the first of the days. */
  readonly name: string;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
}

/** The week of a day. */
export function weekOf(day: UtcDay): Bucket {
  const firstDay = shiftDay(day, 1 - weekdayOf(day));
  return { rollup: 'weekly', name: firstDay, firstDay, lastDay: shiftDay(firstDay, 6) };
}

/** The month of a day. */
export function monthBucketOf(day: UtcDay): Bucket {
  const firstDay = monthOf(day);
  return { rollup: 'monthly', name: day.slice(0, 7), firstDay, lastDay: monthEndOf(day) };
}

/** The buckets of days, each once, in order of time. */
export function bucketsOf(rollup: Bucket['rollup'], days: readonly UtcDay[]): Bucket[] {
  if (rollup === 'teams' || rollup === 'models') return dayBuckets(rollup, days);
  const bucketOf = rollup === 'weekly' ? weekOf : monthBucketOf;
  const found = new Map(days.map((day) => [day.slice(0, rollup === 'weekly' ? 10 : 7), day]));
  const buckets = new Map([...found.values()].map(bucketOf).map((bucket) => [bucket.name, bucket]));
  return [...buckets.values()].toSorted((a, b) => (a.firstDay < b.firstDay ? -1 : 1));
}

function dayBuckets(rollup: Bucket['rollup'], days: readonly UtcDay[]): Bucket[] {
  const buckets: Bucket[] = [];
  for (const day of [...new Set(days)].toSorted()) {
    const last = buckets.at(-1);
    const follows = last !== undefined && shiftDay(last.lastDay, 1) === day && monthOf(day) !== day;
    if (follows) buckets.splice(-1, 1, { ...last, lastDay: day });
    else buckets.push({ rollup, name: day, firstDay: day, lastDay: day });
  }
  return buckets;
}

/**
 * Groups buckets so that each group has at most `rowsMax` rows. A larger bucket is a group of its own, because a bucket
 * is computed in one transaction.
 */
export function groupsOf(
  buckets: readonly Bucket[],
  stored: readonly StoredDay[],
  rowsMax: number,
): Bucket[][] {
  const groups: Bucket[][] = [];
  let room = 0;
  for (const bucket of buckets) {
    const rows = rowsIn(bucket, stored);
    if (groups.length === 0 || rows > room) {
      groups.push([]);
      room = rowsMax;
    }
    groups.at(-1)?.push(bucket);
    room -= rows;
  }
  return groups;
}

function rowsIn({ firstDay, lastDay }: Bucket, stored: readonly StoredDay[]): number {
  const own = stored.filter(({ day }) => day >= firstDay && day <= lastDay);
  return own.reduce((sum, { rows }) => sum + rows, 0);
}

/** The condition that selects the rows of a bucket in its tables. */
export function isIn({ rollup, name, firstDay, lastDay }: Bucket): SQL {
  if (rollup === 'weekly') return sql`week_start = ${firstDay}`;
  return rollup === 'monthly' ? sql`month = ${name}` : sql`date BETWEEN ${firstDay} AND ${lastDay}`;
}

/** How far the calendar goes beyond the present. */
const YEARS_AHEAD = 2;

const encode = encoderOf(tables.dates);

/** True if `dates` has every day up to two years ahead. */
export function* hasAllDates(now: Date): Steps<boolean> {
  const lastDay = shiftYears(dayOf(now), YEARS_AHEAD);
  const [row] = yield sql`SELECT COUNT(*) AS days FROM dates WHERE date BETWEEN ${FIRST_DAY} AND ${lastDay}`;
  return row?.['days'] === Math.max(0, daysBetween(FIRST_DAY, lastDay) + 1);
}

/**
 * Adds the days that `dates` lacks, up to two years ahead.
 * @param force correct wrong rows too. @default false
 */
export function* extendDates(now: Date, force = false): Steps<void> {
  if (!force && (yield* hasAllDates(now))) return;
  const stored = force ? [] : yield sql`SELECT date FROM dates`;
  const known = new Set(stored.map(({ date }) => date));
  const days = daysFrom(FIRST_DAY, shiftYears(dayOf(now), YEARS_AHEAD)).filter((day) => !known.has(day));
  yield { table: tables.dates, rows: days.map((day) => encode(calendarRow(day))) };
}

/** The row of a day in `dates`. */
export function calendarRow(day: UtcDay): RowOf<typeof tables.dates> {
  const weekday = weekdayOf(day);
  const month = Number(day.slice(5, 7));
  return {
    date: day,
    ...isoWeekOf(day),
    week_start: shiftDay(day, 1 - weekday),
    month: day.slice(0, 7),
    quarter: `${day.slice(0, 4)}-Q${Math.ceil(month / 3)}`,
    weekday,
    is_weekend: weekday >= 6 ? 1 : 0,
  };
}
