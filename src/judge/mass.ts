import { daysBetween, isDay, type UtcDay } from '../core/day.ts';
import { isObject } from '../core/json.ts';

/** Many settled days differ at once: since which UTC day, how many on that day, and the first and last of them. */
export interface Mass {
  readonly first: UtcDay;
  readonly last: UtcDay;
  readonly since: UtcDay;
  readonly days: number;
}

/** More settled days than this that newly differ in one run are a mass. */
const MASS_DAYS = 10;
/** A mass is named for so many days at most; days that still differ then are listed one by one. */
const MASS_KEPT_DAYS = 21;

/**
 * Whether many settled days differ at once, after a run.
 * @param newly the days that differ for the first time.
 * @param isOpen some settled day still differs.
 */
export function massAfter(
  before: Mass | undefined,
  newly: readonly UtcDay[],
  { isOpen, today }: { readonly isOpen: boolean; readonly today: UtcDay },
): Mass | null {
  const days = newly.toSorted();
  const [first = today] = days;
  const last = days.at(-1) ?? first;
  if (days.length <= MASS_DAYS)
    return before !== undefined && isOpen && isMassNow(before, today) ? before : null;
  if (before === undefined) return { since: today, days: days.length, first, last };
  // The first night sees the recent days and a part of history, the second all of it.
  return {
    since: before.since,
    days: before.days + days.length,
    first: first < before.first ? first : before.first,
    last: last > before.last ? last : before.last,
  };
}

/** False once a mass has lasted so long that it is no longer named as one. */
export function isMassNow({ since }: Mass, today: UtcDay): boolean {
  return daysBetween(since, today) <= MASS_KEPT_DAYS;
}

/** True for a JSON value that is a mass. */
export function isMass(value: unknown): value is Mass {
  return (
    isObject(value) &&
    isDay(value['since']) &&
    isDay(value['first']) &&
    isDay(value['last']) &&
    typeof value['days'] === 'number'
  );
}
