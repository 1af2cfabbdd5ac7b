import { listOf, sql } from '../../../schema/query.ts';
import { daysBetween, shiftDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { Period } from '../../metrics/index.ts';
import {
  cellOf,
  daysOf,
  formatNumber,
  NOTHING_BEFORE,
  openDaysOf,
  type Result,
  type ShownNumber,
  shareOf,
  sumOf,
} from '../numbers.ts';
import type { Figure, Headline, LinkPart, Phrase } from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';
import { periodBefore } from '../time-spans.ts';
import { dayName, lengthOf, monthName, nounFor, periodWords } from '../words.ts';

const DATA_PAGE: LinkPart = { kind: 'link', text: 'what that means', path: '/data' };

/** The team that a sentence is about, or nothing: `Team Platform: `. */
export function teamWords({ team }: Pick<Filters, 'team'>): string {
  if (team === undefined) return '';
  return team === null ? 'People without a team: ' : `Team ${team}: `;
}

/** How a number compares with the same span before: `, 0.3 % less than in the same days of October`. */
export function comparison({ change, number }: Headline, filters: Filters, less = 'less'): Phrase {
  const before = periodBefore(filters);
  if (number.value === null || before === null) return [];
  if (change.value === null)
    return change.why === NOTHING_BEFORE ? [] : [` (${spanWords(filters, before)}: ${change.why})`];
  const size: ShownNumber = { ...change, format: 'size' };
  if (!/[1-9]/.test(formatNumber(change.value, 'size'))) {
    return [`, as many as ${inSpan(filters, before)}`];
  }
  return [', ', size, ` ${change.value < 0 ? less : 'more'} than ${inSpan(filters, before)}`];
}

/** `in the same days of October`, `on the day before`, `in July`. */
function inSpan(now: Period, before: Period): string {
  const weeks = daysBetween(before.from, now.from) / 7;
  const isSameLength = lengthOf(now) === lengthOf(before);
  if (isSameLength && Number.isInteger(weeks) && lengthOf(now) > 1 && periodWords(before).includes(' ')) {
    if (lengthOf(now) === 7 && weeks === 1) return 'in the week before';
    return `on the same weekdays ${weekWords(weeks)} before`;
  }
  return `${lengthOf(before) === 1 ? 'on' : 'in'} ${spanWords(now, before)}`;
}

const NUMBERS = ['', 'one week', 'two weeks', 'three weeks', 'four weeks', 'five weeks'];

function weekWords(weeks: number): string {
  return NUMBERS[weeks] ?? `${weeks} weeks`;
}

function spanWords(now: Period, before: Period): string {
  const isJustBefore = before.until === shiftDay(now.from, -1);
  const days = lengthOf(before);
  if (days === 1) return isJustBefore ? 'the day before' : periodWords(before, now.until);
  // A whole month has a name of its own, whether it lies just before or not.
  if (!periodWords(before).includes(' ')) return periodWords(before);
  return isJustBefore ? `the ${days} days before` : `the same days of ${monthName(before.from)}`;
}

/**
 * How far the days of a period can be relied on: `2 of 19 days are not settled, 1 is doubted`, with a link to what that
 * means.
 * @param doubted the days of the period whose answers are doubted, one row each.
 * @param more leads to what that means.
 */
export function standing(result: Result, doubted: Result, more: Phrase = [': ', DATA_PAGE]): Phrase {
  const expected = daysOf(result, 'expected');
  if (expected.value === 0) return [];
  const { unsettled, missing } = result.basis.days;
  if (unsettled.length + missing.length === 0) {
    return expected.value === 1 ? [' The day is settled.'] : [' All ', expected, ' days are settled.'];
  }
  const open = openCount(result, doubted);
  const parts = [
    { number: open, words: 'not settled' },
    { number: doubtedCount(doubted), words: 'doubted' },
    { number: daysOf(result, 'missing'), words: 'missing' },
  ].filter(({ number }) => number.value !== 0);
  const first = firstLooksOf(result);
  if (expected.value === 1) return [` The day is ${parts[0]?.words ?? 'not settled'}`, ...more, '.'];
  const phrases = parts.map(({ number, words }, index): Phrase => {
    const of = index === 0 ? [' of ', expected, ' days'] : [];
    return [index === 0 ? ' ' : ', ', number, ...of, ` ${nounFor(number, 'is', 'are')} ${words}`];
  });
  return [...phrases.flat(), ...more, '.', ...first];
}

/** One sentence about history that has not been seen often enough: how often, and when it settles. */
function firstLooksOf({ basis: { firstLooks, days } }: Result): Phrase {
  if (firstLooks === null || firstLooks === undefined) return [];
  const { days: seen, settlesOn, looks } = firstLooks;
  const which = seen.size === days.unsettled.length ? 'They' : 'The older ones';
  return [` ${which} have been seen ${looks === 1 ? 'once' : 'twice'} and settle on ${dayName(settlesOn)}.`];
}

/** What the page compares with, and a link to the other way. `here` is the path of the page. */
export function comparedPhrase({ change }: Headline, filters: Filters, here = '/'): Phrase {
  if (change.value === null) return [];
  const before = periodBefore(filters);
  const way = filters.comparison === 'calendar' ? 'previous' : 'calendar';
  const other = periodBefore({ ...filters, comparison: way });
  if (before === null || other === null || other.from === before.from) return [];
  const text = `Compare with ${periodWords(other, filters.until)} instead.`;
  return [
    ` Compared with ${periodWords(before, filters.until)}. `,
    { kind: 'link', text, path: `${here}${here.includes('?') ? '&' : '?'}compare=${way}`, isAction: true },
  ];
}

function doubtedCount(doubted: Result): ShownNumber {
  return {
    kind: 'number',
    value: doubted.rows.length,
    format: 'count',
    formula: { op: 'rows', result: doubted.id },
  };
}

/** The days that are stored and not settled, without the doubted ones, which are named on their own. */
function openCount(result: Result, doubted: Result): ShownNumber {
  const unsettled = daysOf(result, 'unsettled');
  const others = doubtedCount(doubted);
  return {
    ...unsettled,
    value: (unsettled.value ?? 0) - (others.value ?? 0),
    formula: { op: 'difference', of: [unsettled.formula, others.formula] },
  };
}

/** Days of the period whose rows of a stream are doubted, one row each. The answer rests on all days of these streams. */
export function doubtedDays(
  { filters: { orgId, from, until }, select }: PageReader,
  streams: readonly DailyStream[] = ['users'],
): Promise<Result> {
  const query = sql`SELECT DISTINCT date FROM export_units
WHERE org_id = ${orgId} AND stream IN (${listOf(streams.map((stream) => sql`${stream}`))}) AND date BETWEEN ${from} AND ${until} AND state = 'doubted' ORDER BY date`;
  return select({ title: 'Doubted days', query, streams });
}

/**
 * How much of a number may still change, once for the page: `2 of 23 days (7 % of the cost) may still change: what that means.`
 * @param byDay the figure whose results have the number by day
 */
export function openPhrase(
  filters: Filters,
  { of, byDay, doubted, isMoney }: { of: Headline; byDay: Figure; doubted: Result; isMoney: boolean },
): Phrase {
  const [now] = of.results;
  if (now === undefined) return [];
  const words = standing(now, doubted);
  const days = byDay.results[0];
  const open = new Set<string>(openDaysOf(now.basis));
  const isByDay = days?.rows.some((row) => typeof row['date'] === 'string') === true;
  if (open.size === 0 || !isByDay || of.number.value === null || now.basis.days.expected === 1) return words;
  const cells = days.rows.flatMap((row, index) =>
    open.has(String(row['date'])) && String(row['date']) >= filters.from
      ? [cellOf(days, index, of.number.format)]
      : [],
  );
  // It says what is open, so it is not marked as open itself.
  const share = { ...shareOf(sumOf(cells, of.number.format), of.number), open: undefined };
  if (share.value === null) return words;
  const last = words.findIndex((part) => typeof part === 'string' && part.endsWith(': '));
  const part: Phrase = [' (', share, ` of the ${isMoney ? 'cost' : 'credits'} may still change)`];
  return [...words.slice(0, last), ...part, ...words.slice(last)];
}
