import { type SQL, sql } from '../../../schema/query.ts';
import { monthEndOf, monthOf, shiftDay, type UtcDay, weekdayOf } from '../../core/day.ts';
import type { StoredDay } from './standing.ts';

/** A week or a month of a rollup. */
export interface Bucket {
  readonly rollup: 'weekly' | 'monthly';
  /** The Monday of the week, or the month as `YYYY-MM`. */
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
  const bucketOf = rollup === 'weekly' ? weekOf : monthBucketOf;
  const found = new Map(days.map((day) => [day.slice(0, rollup === 'weekly' ? 10 : 7), day]));
  const buckets = new Map([...found.values()].map(bucketOf).map((bucket) => [bucket.name, bucket]));
  return [...buckets.values()].toSorted((a, b) => (a.firstDay < b.firstDay ? -1 : 1));
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
export function isIn(bucket: Bucket): SQL {
  return bucket.rollup === 'weekly' ? sql`week_start = ${bucket.firstDay}` : sql`month = ${bucket.name}`;
}
