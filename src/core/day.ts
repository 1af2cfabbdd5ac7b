// The other class of the library creates formats of dates, which takes ten milliseconds.
import { UTCDateMini } from '@date-fns/utc/date/mini';
import { addYears } from 'date-fns/addYears';
import { getISODay } from 'date-fns/getISODay';
import { getISOWeek } from 'date-fns/getISOWeek';
import { getISOWeekYear } from 'date-fns/getISOWeekYear';
import { lastDayOfMonth } from 'date-fns/lastDayOfMonth';
import { startOfMonth } from 'date-fns/startOfMonth';
import { UsageError } from './errors.ts';

declare const dayBrand: unique symbol;

/** A calendar day in UTC, written `YYYY-MM-DD`. Compares correctly as text. */
export type UtcDay = string & { readonly [dayBrand]: true };

const SHAPE = /^\d{4}-\d{2}-\d{2}$/;
const inUtc = { in: (value: Date | number | string) => new UTCDateMini(value) } as const;
/** The length of `YYYY-MM-DD`. */
const DAY_LENGTH = 10;
/** Every day in UTC has this length. */
const DAY_MS = 86_400_000;

/** The first day with data (specification, section 8). */
export const FIRST_DAY = parseDay('2026-01-14');

/** True for a real calendar day written `YYYY-MM-DD` (2026-02-29 is not one). */
export function isDay(value: unknown): value is UtcDay {
  if (typeof value !== 'string' || !SHAPE.test(value)) return false;
  const instant = new Date(`${value}T00:00:00Z`);
  // JavaScript reads 30 February as 2 March.
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(value);
}

/**
 * Parses a day.
 * @throws {UsageError} if it is not a real day written `YYYY-MM-DD`
 */
export function parseDay(text: string): UtcDay {
  if (isDay(text)) return text;
  throw new UsageError(`"${text}" is not a calendar day`, {
    hint: 'write days as YYYY-MM-DD, for example 2026-01-14',
  });
}

/** Returns the UTC day of an instant. */
export function dayOf(instant: Date): UtcDay {
  return brand(instant.toISOString().slice(0, DAY_LENGTH));
}

/** Returns the UTC day before `now`: the newest day that the service publishes. */
export function yesterdayOf(now: Date): UtcDay {
  return shiftDay(dayOf(now), -1);
}

/**
 * Checks that a period that a person asks for does not end on a day of which there can be no data yet.
 * @param last the last day of which there can be data: yesterday, in UTC
 * @throws {UsageError} if it does.
 */
export function expectOver(until: UtcDay | undefined, last: UtcDay): void {
  if (until === undefined || until <= last) return;
  throw new UsageError(`the period ends on ${until}, a day that is not over yet`, {
    hint: `the last day can be ${last}`,
  });
}

/** Moves a day by a number of days, which may be negative. */
export function shiftDay(day: UtcDay, days: number): UtcDay {
  return dayOf(new Date(startOfDayMs(day) + days * DAY_MS));
}

/** Moves a day by a number of years. From 29 February it comes to 28 February where there is no 29th. */
export function shiftYears(day: UtcDay, years: number): UtcDay {
  return dayOf(addYears(instantOf(day), years, inUtc));
}

/** Counts the days from `earlier` to `later`; negative if `later` comes first. */
export function daysBetween(earlier: UtcDay, later: UtcDay): number {
  return (startOfDayMs(later) - startOfDayMs(earlier)) / DAY_MS;
}

/**
 * The day that a run has noted, as far as a later run relies on it. A day after today was noted while a clock was ahead, and
 * what began on it begins today: otherwise it would last until then.
 */
export function notedDay(noted: UtcDay, today: UtcDay): UtcDay {
  return noted > today ? today : noted;
}

/** Lists the days from `first` to `last`, both included; none if `last` comes first. */
export function daysFrom(first: UtcDay, last: UtcDay): UtcDay[] {
  const count = Math.max(0, daysBetween(first, last) + 1);
  return Array.from({ length: count }, (_, index) => shiftDay(first, index));
}

/** Returns the ISO weekday: 1 for Monday to 7 for Sunday. */
export function weekdayOf(day: UtcDay): number {
  return getISODay(instantOf(day), inUtc);
}

/** Returns the Monday of the week of `day`. */
export function mondayOf(day: UtcDay): UtcDay {
  return shiftDay(day, 1 - weekdayOf(day));
}

/** Returns the first day of the month of `day`. */
export function monthOf(day: UtcDay): UtcDay {
  return dayOf(startOfMonth(instantOf(day), inUtc));
}

/** Returns the last day of the month of `day`. */
export function monthEndOf(day: UtcDay): UtcDay {
  return dayOf(lastDayOfMonth(instantOf(day), inUtc));
}

/** Returns the ISO week of `day`, and the year of that week. */
export function isoWeekOf(day: UtcDay): { readonly iso_year: number; readonly iso_week: number } {
  const instant = instantOf(day);
  return { iso_year: getISOWeekYear(instant, inUtc), iso_week: getISOWeek(instant, inUtc) };
}

/** Returns midnight UTC at the start of `day`, in Unix milliseconds. */
export function startOfDayMs(day: UtcDay): number {
  return instantOf(day).getTime();
}

/**
 * A run shifts days ten thousand times, so days are counted in milliseconds: a library's functions took a quarter of a
 * small first run. Weeks, months and years are the library's.
 */
function instantOf(day: UtcDay): Date {
  return new Date(`${day}T00:00:00Z`);
}

function brand(text: string): UtcDay {
  return text as UtcDay;
}

/** A calendar month in UTC. */
export interface Month {
  /** `YYYY-MM`. */
  readonly name: string;
  readonly first: UtcDay;
  readonly last: UtcDay;
  /** The first day of the next month. */
  readonly next: UtcDay;
}

/**
 * Parses a month.
 * @throws {UsageError} if it is not a real month written `YYYY-MM`
 */
export function parseMonth(name: string): Month {
  const first = `${name}-01`;
  if (isDay(first)) {
    const last = monthEndOf(first);
    return { name, first, last, next: shiftDay(last, 1) };
  }
  throw new UsageError(`"${name}" is not a calendar month`, {
    hint: 'write months as YYYY-MM, for example 2026-10',
  });
}

const WEEK = /^(\d{4})-W(\d{2})$/;

/**
 * A week as its Monday: `2026-W47`, or the Monday itself.
 * @throws {UsageError} if it is neither.
 */
export function parseWeek(name: string): UtcDay {
  const [, year, week] = WEEK.exec(name) ?? [];
  // 4 January is in the first week of each year.
  const fourth = year === undefined ? undefined : parseDay(`${year}-01-04`);
  const monday = fourth === undefined ? parseDay(name) : shiftDay(mondayOf(fourth), 7 * (Number(week) - 1));
  const isIn = fourth === undefined || (Number(week) > 0 && shiftDay(monday, 3).startsWith(`${year}-`));
  if (weekdayOf(monday) === 1 && isIn) return monday;
  throw new UsageError(`"${name}" is not a week`, {
    hint: 'write weeks as 2026-W47, or as their Monday: 2026-11-16',
  });
}

/** Days in a row. */
export interface DaySpan {
  readonly from: UtcDay;
  readonly until: UtcDay;
}

/**
 * Joins days that follow each other.
 * @param days in ascending order
 */
export function spansOf(days: readonly UtcDay[]): DaySpan[] {
  const spans: DaySpan[] = [];
  for (const day of days) {
    const last = spans.at(-1);
    if (last !== undefined && shiftDay(last.until, 1) === day) {
      spans.splice(-1, 1, { from: last.from, until: day });
    } else spans.push({ from: day, until: day });
  }
  return spans;
}
