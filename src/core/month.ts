import { isDay, monthOf, shiftDay, type UtcDay } from './day.ts';
import { UsageError } from './errors.ts';

/** A calendar month in UTC. */
export interface Month {
  /** `YYYY-MM`. */
  readonly name: string;
  readonly first: UtcDay;
  readonly last: UtcDay;
  /** The first day of the next month. */
  readonly next: UtcDay;
}

const DAYS_MAX = 31;

/**
 * Parses a month.
 * @throws {UsageError} if it is not a real month written `YYYY-MM`
 */
export function parseMonth(name: string): Month {
  const first = `${name}-01`;
  if (isDay(first)) {
    const next = monthOf(shiftDay(first, DAYS_MAX));
    return { name, first, last: shiftDay(next, -1), next };
  }
  throw new UsageError(`"${name}" is not a calendar month`, {
    hint: 'write months as YYYY-MM, for example 2026-10',
  });
}
