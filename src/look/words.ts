import { dayOf, daysBetween, monthEndOf, monthOf, spansOf, type UtcDay } from '../core/day.ts';
import type { Period } from '../metrics/index.ts';
import type { ShownNumber } from './numbers.ts';

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

/** When something happened: `on 19 October`, `in October`, `from 1 to 19 October`. */
export function duringWords(period: Period): string {
  const words = periodWords(period);
  if (period.from === period.until) return `on ${words}`;
  return words.includes(' to ') ? `from ${words}` : `in ${words}`;
}

/** `9 Oct`, for drawings and footers; with the year for a reader who is in another one. */
export function shortDay(day: UtcDay, near?: UtcDay): string {
  const year = near === undefined || near.slice(0, 4) === day.slice(0, 4) ? '' : ` ${day.slice(0, 4)}`;
  return `${dayNumber(day)} ${shortMonth(day)}${year}`;
}

/** `Nov`, and `Sept`. */
export function shortMonth(day: UtcDay): string {
  const name = monthName(day);
  return name.length <= 4 ? name : name === 'September' ? 'Sept' : name.slice(0, 3);
}

/** An instant such as `2026-11-20T03:00:00.000Z` as `20 Nov 03:00 UTC`. */
export function instantWords(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  const iso = date.toISOString();
  return `${shortDay(dayOf(date))} ${iso.slice(11, 16)} UTC`;
}

/** Days in running text, days in a row as a span: `4 June, 9 to 12 October and 3 more days`. */
export function daysWords(
  days: readonly UtcDay[],
  { most = 3, near }: { most?: number; near?: UtcDay } = {},
) {
  const spans = spansOf([...new Set(days)].toSorted());
  const named = spans.slice(0, most).map((span) => periodWords(span, near ?? span.until));
  const rest = spans.slice(most).reduce((sum, span) => sum + lengthOf(span), 0);
  return `${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more ${rest === 1 ? 'day' : 'days'}`}`;
}

/** The number of days of a period. */
export function lengthOf({ from, until }: Period): number {
  return daysBetween(from, until) + 1;
}

function dayNumber(day: UtcDay): string {
  return String(Number(day.slice(8)));
}

/** An instant for tables: `2026-11-20 03:00 UTC`. A text that is no instant stays as it is. */
export function instantName(instant: string): string {
  return ISO.test(instant) ? `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC` : instant;
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;

/** An instant in running text: `20 November 2026 at 03:00 UTC`. A text that is no instant stays as it is. */
export function instantSentence(instant: string): string {
  if (!ISO.test(instant)) return instant;
  const day = dayOf(new Date(instant));
  return `${dayName(day)} ${day.slice(0, 4)} at ${instant.slice(11, 16)} UTC`;
}

/** The word that follows a number: the first for one thing, the second for none or several. */
export function nounFor({ value }: Pick<ShownNumber, 'value'>, one: string, several: string): string {
  return value === 1 ? one : several;
}

/** A message of the program as a sentence: it begins with a capital and ends with a full stop. */
export function asSentence(message: string): string {
  const text = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}
