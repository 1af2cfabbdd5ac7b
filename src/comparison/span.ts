import { daysBetween, FIRST_DAY, monthEndOf, monthOf, parseDay, shiftDay, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { spanStart } from '../expected/index.ts';
import { type CoveredDays, type Period, resolvePeriod } from '../metrics/index.ts';

/**
 * How the span is found that a period is compared with. A whole month or quarter is compared with the one before, either way.
 *
 * - `previous`: the same weekdays, the fewest whole weeks back that keep both spans apart; a month to date at least four.
 * - `calendar`: a month to date with the same days of the month before; another period, or one that the month before does
 *   not have, with the days just before it.
 */
export type Comparison = (typeof COMPARISONS)[number];

export const COMPARISONS = ['previous', 'calendar'] as const;

/**
 * Parses what a period is compared with.
 * @throws {UsageError} for a word that is no way to compare, and for a span that is reversed or not of days.
 */
export function parseComparison(text: string): Comparison | Period {
  const way = COMPARISONS.find((name) => name === text);
  if (way !== undefined) return way;
  const [first, last, ...others] = text.split('..');
  if (first === undefined || last === undefined || others.length > 0) {
    throw new UsageError(`"${text}" is not a span to compare with`, {
      hint: `write ${COMPARISONS.join(', ')}, or two days: 2026-10-01..2026-10-31`,
    });
  }
  return resolvePeriod([], ['users'], { from: parseDay(first), until: parseDay(last) });
}

const WEEK_DAYS = 7;
/** So many weeks back, most of a month to date lies in the month before. */
const MONTH_WEEKS_MIN = 4;

/**
 * The span that a period is compared with, see {@link Comparison}. Null if it would begin before the first expected day,
 * unless the period does so itself. Whether its days are stored is for {@link whyNotCompared} to say. Pure.
 */
export function comparedSpan(
  period: Period,
  comparison: Comparison,
  contract: { readonly firstDay?: UtcDay | undefined },
): Period | null {
  const span = wholeBefore(period) ?? (comparison === 'calendar' ? calendarSpan : weeksBack)(period);
  return span.from < spanStart(FIRST_DAY, period.from, contract) ? null : span;
}

function weeksBack({ from, until }: Period): Period {
  const weeks = Math.ceil((daysBetween(from, until) + 1) / WEEK_DAYS);
  const isMonthToDate = monthOf(from) === from && monthOf(until) === from;
  const days = WEEK_DAYS * Math.max(weeks, isMonthToDate ? MONTH_WEEKS_MIN : 1);
  return { from: shiftDay(from, -days), until: shiftDay(until, -days) };
}

/** The month before a whole month, the quarter before a whole quarter; null for any other period. */
function wholeBefore({ from, until }: Period): Period | null {
  const last = shiftDay(from, -1);
  if (monthOf(from) !== from) return null;
  if (until === monthEndOf(from)) return { from: monthOf(last), until: last };
  return from === quarterOf(from) && until === quarterEndOf(from)
    ? { from: quarterOf(last), until: last }
    : null;
}

const QUARTER_MONTHS = 3;

function quarterOf(day: UtcDay): UtcDay {
  const month = Number(day.slice('YYYY-'.length, 'YYYY-MM'.length));
  const first = month - ((month - 1) % QUARTER_MONTHS);
  return parseDay(`${day.slice(0, 'YYYY'.length)}-${String(first).padStart(2, '0')}-01`);
}

function quarterEndOf(first: UtcDay): UtcDay {
  let end = monthEndOf(first);
  for (let month = 1; month < QUARTER_MONTHS; month += 1) end = monthEndOf(shiftDay(end, 1));
  return end;
}

function calendarSpan({ from, until }: Period): Period {
  return (
    sameDaysOfMonthBefore({ from, until }) ?? {
      from: shiftDay(from, -(daysBetween(from, until) + 1)),
      until: shiftDay(from, -1),
    }
  );
}

function sameDaysOfMonthBefore({ from, until }: Period): Period | null {
  if (monthOf(from) !== from || monthOf(until) !== from) return null;
  const first = monthOf(shiftDay(from, -1));
  const last = shiftDay(first, daysBetween(from, until));
  return last <= monthEndOf(first) ? { from: first, until: last } : null;
}

/** Why nothing is compared if the span would begin too early, see {@link comparedSpan}. */
export const NO_SPAN_BEFORE = 'the span before would begin before the first expected day';

/** What decides whether the answers about two spans can be compared. */
interface ComparedNumbers {
  readonly days: CoveredDays;
  /** The unit of the numbers. @default the same in both */
  readonly unit?: string | null;
}

/** Why two spans cannot be compared: they are only if no day of either is missing, and both have one currency. Null if they can be. */
export function whyNotCompared(now: ComparedNumbers, then: ComparedNumbers): string | null {
  const missing = now.days.missing.length + then.days.missing.length;
  if (missing > 0) {
    return `${missing} ${missing === 1 ? 'day is' : 'days are'} missing, so the spans cannot be compared`;
  }
  // Without any price the unit is no currency, and there is no cost.
  if (now.unit === then.unit || [now.unit, then.unit].includes('currency')) return null;
  return `the spans have prices in ${now.unit} and ${then.unit}, so they cannot be compared`;
}

/** False if nothing is kept of people on a day of the period: what is left of it would pass for all of it. */
export function isKeptIn({ from, until, days }: Period & { readonly days: CoveredDays }): boolean {
  return days.expected > daysBetween(from, until);
}
