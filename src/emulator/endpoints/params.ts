import { daysBetween, FIRST_DAY, isDay, shiftDay, type UtcDay } from '../../core/day.ts';
import { USERS_LIMIT } from '../openapi/building-blocks.ts';
import type { Quirks } from '../quirks.ts';
import { Refusal } from '../response.ts';

/** Query parameters by name. */
export type Query = URLSearchParams;

/** A valid range of days. `first` and `last` count from the first day with data and may be negative. */
export interface RequestedRange {
  readonly startDate: UtcDay;
  readonly endDate: UtcDay;
  readonly first: number;
  readonly last: number;
}

/** Maximum characters of a request that a refusal repeats. */
const ECHO_MAX = 60;

/**
 * Reads startDate and endDate (specification, sections 4.2 and 8).
 * @throws {Refusal} 400 when a date is missing, not a calendar day or not in the past, or the range is reversed or too long.
 */
export function readRange(query: Query, today: UtcDay, quirks: Quirks): RequestedRange {
  const startDate = readDate(query, 'startDate');
  const endDate = readDate(query, 'endDate');
  if (startDate > endDate) throw new Refusal(400, `startDate ${startDate} is after endDate ${endDate}`);
  if (endDate >= today) refuseLateDay(endDate, today);
  const first = daysBetween(FIRST_DAY, startDate);
  const last = daysBetween(FIRST_DAY, endDate);
  if (quirks.maxRangeDays !== null && last - first + 1 > quirks.maxRangeDays) {
    throw new Refusal(
      400,
      `Date range of ${last - first + 1} days exceeds the maximum of ${quirks.maxRangeDays} days`,
    );
  }
  if (first < 0 && quirks.beforeEpoch === 'reject') {
    throw new Refusal(400, `startDate ${startDate} is before the earliest available date ${FIRST_DAY}`);
  }
  return { startDate, endDate, first, last };
}

/**
 * Reads group_by: the one supported dimension, or null (section 4.2).
 * @throws {Refusal} 400 for another value, unless the quirk ignores it.
 */
export function readGroupBy(query: Query, supported: string | undefined, quirks: Quirks): string | null {
  const value = single(query, 'group_by');
  if (value === null || value === supported) return value;
  if (quirks.unsupportedGroupBy === 'ignore') return null;
  const remedy = supported === undefined ? 'this endpoint has none' : `use "${supported}"`;
  throw new Refusal(400, `Unsupported group_by ${echo(value)}: ${remedy}`);
}

/**
 * Reads the limit of /users: 1 to 100, by default 20 (section 8).
 * @throws {Refusal} 400 when it is out of range or not a whole number.
 */
export function readUsersLimit(query: Query): number {
  const { min, max } = USERS_LIMIT;
  return readInteger(query, 'limit', { min, max }) ?? USERS_LIMIT.default;
}

/**
 * Reads the cursor of /users. `isGiven` says whether it comes from a page with a given user.
 * @throws {Refusal} 400 when it is empty, or when it is not a user id and the quirk rejects that.
 */
export function readCursor(
  query: Query,
  quirks: Quirks,
  isGiven: (cursor: string) => boolean,
): string | null {
  const cursor = single(query, 'cursor');
  if (cursor === null) return null;
  const known = cursor.startsWith('user_') || quirks.unknownCursor === 'resume' || isGiven(cursor);
  if (cursor === '' || !known) throw new Refusal(400, `Invalid cursor ${echo(cursor)}`);
  return cursor;
}

/**
 * Reads a whole number; null when the parameter is absent. With `max` Infinity there is no upper bound.
 * @throws {Refusal} 400 when it is not a whole number from `min` to `max`.
 */
export function readInteger(query: Query, name: string, range: { min: number; max: number }): number | null {
  const value = single(query, name);
  if (value === null) return null;
  // A number with too many digits becomes inexact, which does not matter for a comparison with a limit.
  const parsed = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  if (parsed >= range.min && parsed <= range.max) return parsed;
  const wanted =
    range.max === Number.POSITIVE_INFINITY
      ? 'a positive integer'
      : `a whole number from ${range.min} to ${range.max}`;
  throw new Refusal(400, `Invalid ${name} ${echo(value)}: must be ${wanted}`);
}

/**
 * Reads the single value of a parameter; null when it is absent.
 * @throws {Refusal} 400 when it is given several times.
 */
export function single(query: Query, name: string): string | null {
  const values = query.getAll(name);
  if (values.length > 1) throw new Refusal(400, `${name} is given ${values.length} times`);
  return values[0] ?? null;
}

function readDate(query: Query, name: 'startDate' | 'endDate'): UtcDay {
  const value = single(query, name);
  if (value === null || value === '') throw new Refusal(400, `${name} is required, as YYYY-MM-DD`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) {
    throw new Refusal(400, `Invalid date format for ${name} ${echo(value)}: expected YYYY-MM-DD`);
  }
  if (!isDay(value)) throw new Refusal(400, `Invalid ${name} ${echo(value)}: not a calendar day`);
  return value;
}

function refuseLateDay(endDate: UtcDay, today: UtcDay): never {
  const latest = `the latest available date is ${shiftDay(today, -1)} (UTC)`;
  if (endDate === today) throw new Refusal(400, `Cannot query today's date (${today}): ${latest}`);
  throw new Refusal(400, `Cannot query the future date ${endDate}: ${latest}`);
}

function echo(value: string): string {
  return JSON.stringify(value.slice(0, ECHO_MAX));
}
