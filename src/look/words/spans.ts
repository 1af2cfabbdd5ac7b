import { daysBetween, monthEndOf, monthOf, type UtcDay } from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

/** `November`. */
export function monthName(day: UtcDay): string {
  return MONTHS[Number(day.slice(5, 7)) - 1] ?? '';
}

/** `17 November`, and `17 November 2025` for a reader who is in another year. */
export function dayName(day: UtcDay, near?: UtcDay): string {
  const year = near === undefined || near.slice(0, 4) === day.slice(0, 4) ? '' : ` ${day.slice(0, 4)}`;
  return `${dayNumber(day)} ${monthName(day)}${year}`;
}

/** A period as a heading: `November 2026`, `November 2026, 1 to 19`, `25 August to 19 November 2026`. */
export function periodHeading({ from, until }: Period): string {
  const year = until.slice(0, 4);
  if (monthOf(from) !== monthOf(until)) return `${dayName(from, until)} to ${dayName(until)} ${year}`;
  if (from === until) return `${dayName(from)} ${year}`;
  const month = `${monthName(from)} ${year}`;
  return monthOf(from) === from && monthEndOf(from) === until
    ? month
    : `${month}, ${dayNumber(from)} to ${dayNumber(until)}`;
}

/** A period in running text: `1 to 19 October`, `October`. */
export function periodWords({ from, until }: Period, near: UtcDay = until): string {
  if (monthOf(from) !== monthOf(until)) return `${dayName(from, until)} to ${dayName(until, near)}`;
  if (from === until) return dayName(from, near);
  if (monthOf(from) === from && monthEndOf(from) === until) return monthName(from);
  return `${dayNumber(from)} to ${dayName(until, near)}`;
}

/** The number of days of a period. */
export function lengthOf({ from, until }: Period): number {
  return daysBetween(from, until) + 1;
}

function dayNumber(day: UtcDay): string {
  return String(Number(day.slice(8)));
}
