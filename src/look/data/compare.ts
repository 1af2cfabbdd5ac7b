import {
  daysBetween,
  FIRST_DAY,
  monthEndOf,
  monthOf,
  shiftDay,
  type UtcDay,
  weekdayOf,
} from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';

/**
 * The period before one, with exactly as many days, for comparisons. From the first day of a month on, it is the same days
 * of the month before, if that month has them and the period does not leave its month; otherwise the days just before.
 * Null if it would begin before the first day of the service.
 */
export function periodBefore({ from, until }: Period): Period | null {
  const before = sameDaysOfMonthBefore({ from, until }) ?? {
    from: shiftDay(from, -(daysBetween(from, until) + 1)),
    until: shiftDay(from, -1),
  };
  return before.from < FIRST_DAY ? null : before;
}

function sameDaysOfMonthBefore({ from, until }: Period): Period | null {
  if (monthOf(from) !== from || monthOf(until) !== from) return null;
  const first = monthOf(shiftDay(from, -1));
  const last = shiftDay(first, daysBetween(from, until));
  return last <= monthEndOf(first) ? { from: first, until: last } : null;
}

/** The last complete weeks before a day ends, Monday to Sunday: the first and the last day of all of them. */
export function completeWeeks(until: UtcDay, weeks: number): Period | null {
  const last = shiftDay(until, -(weekdayOf(until) % 7));
  const from = shiftDay(last, 1 - 7 * weeks);
  // The service began on a Wednesday; its first week is not complete.
  const first = from < FIRST_WEEK ? FIRST_WEEK : from;
  return first > last ? null : { from: first, until: last };
}

/** The first Monday of the service. */
const FIRST_WEEK = shiftDay(FIRST_DAY, 5);

/** The months up to the one of a day, which may be cut: from the first day of the first of them to that day. */
export function monthsUntil(until: UtcDay, months: number): Period {
  let from = monthOf(until);
  for (let count = 1; count < months && from > FIRST_DAY; count += 1) from = monthOf(shiftDay(from, -1));
  return { from: from < FIRST_DAY ? FIRST_DAY : from, until };
}
