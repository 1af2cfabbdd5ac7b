import { shiftDay, type UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';

/** Days of one stream that follow each other, to be pulled together; a day is committed whole all the same. */
export interface DayBatch {
  readonly stream: DailyStream;
  /** At least one, ascending, without gaps. */
  readonly days: readonly [UtcDay, ...UtcDay[]];
  /** A range showed no row of these days, and they are asked for once more: no row again is an answer. */
  readonly isGap?: boolean;
  /** Settled days of a range without any row. If the one day that is asked has no row either, they have none. */
  readonly speaksFor?: readonly UtcDay[];
}

/** The batches of at most `daysMax` days that units of one stream make, in ascending order. */
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

/** A batch by name: `tokens 2026-02-01`, `users 2026-02-01 to 2026-02-28`. */
export function batchName({ stream, days }: DayBatch): string {
  const last = days.at(-1);
  return days.length === 1 ? `${stream} ${days[0]}` : `${stream} ${days[0]} to ${last}`;
}
