import { utc } from '@date-fns/utc';
// One by one: the whole library takes as long to load as the rest of a command.
import { addDays } from 'date-fns/addDays';
import { differenceInCalendarDays } from 'date-fns/differenceInCalendarDays';
import { format } from 'date-fns/format';
import { getISODay } from 'date-fns/getISODay';
import { isValid } from 'date-fns/isValid';
import { parse } from 'date-fns/parse';
import { startOfMonth } from 'date-fns/startOfMonth';
import { subDays } from 'date-fns/subDays';
import { UsageError } from './errors.ts';

declare const dayBrand: unique symbol;

/** A calendar day in UTC, written `YYYY-MM-DD`. Compares correctly as text. */
export type UtcDay = string & { readonly [dayBrand]: true };

const PATTERN = 'yyyy-MM-dd';
const SHAPE = /^\d{4}-\d{2}-\d{2}$/;
const inUtc = { in: utc } as const;

/** The first day for which the service has data (specification, section 8). */
export const FIRST_DAY = parseDay('2026-01-14');

/** True for a real calendar day written `YYYY-MM-DD` (2026-02-29 is not one). */
export function isDay(value: unknown): value is UtcDay {
  return typeof value === 'string' && SHAPE.test(value) && isValid(instantOf(value));
}

/**
 * The day that `text` names.
 * @throws {UsageError} when it is not a real day written `YYYY-MM-DD`.
 */
export function parseDay(text: string): UtcDay {
  if (isDay(text)) return text;
  throw new UsageError(`"${text}" is not a calendar day`, {
    hint: 'write days as YYYY-MM-DD, for example 2026-01-14',
  });
}

/** The UTC day of an instant. */
export function dayOf(instant: Date): UtcDay {
  return brand(format(instant, PATTERN, inUtc));
}

/** The day before the UTC day of `now`: the newest day that the service answers. */
export function yesterdayOf(now: Date): UtcDay {
  return brand(format(subDays(now, 1, inUtc), PATTERN, inUtc));
}

/** `day` moved by a number of days, which may be negative. */
export function shiftDay(day: UtcDay, days: number): UtcDay {
  return brand(format(addDays(instantOf(day), days, inUtc), PATTERN, inUtc));
}

/** How many days `later` lies after `earlier`; negative when it lies before. */
export function daysBetween(earlier: UtcDay, later: UtcDay): number {
  return differenceInCalendarDays(instantOf(later), instantOf(earlier), inUtc);
}

/** Every day from `first` to `last`, both included; none when `last` is before `first`. */
export function daysFrom(first: UtcDay, last: UtcDay): UtcDay[] {
  const count = Math.max(0, daysBetween(first, last) + 1);
  return Array.from({ length: count }, (_, index) => shiftDay(first, index));
}

/** 1 for Monday to 7 for Sunday. */
export function weekdayOf(day: UtcDay): number {
  return getISODay(instantOf(day), inUtc);
}

/** The first day of the month of `day`. */
export function monthOf(day: UtcDay): UtcDay {
  return brand(format(startOfMonth(instantOf(day), inUtc), PATTERN, inUtc));
}

/** Midnight UTC at the start of `day`, as Unix milliseconds. */
export function startOfDayMs(day: UtcDay): number {
  return instantOf(day).getTime();
}

function instantOf(day: string): Date {
  return parse(day, PATTERN, 0, inUtc);
}

function brand(text: string): UtcDay {
  return text as UtcDay;
}
