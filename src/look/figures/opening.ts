import { shiftDay } from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';
import { periodBefore } from '../data/compare.ts';
import type { Filters } from '../data/filters.ts';
import type { Result } from '../data/result.ts';
import { daysOf, type ShownNumber } from '../page/numbers.ts';
import type { Headline, LinkPart, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { formatNumber } from '../words/numbers.ts';
import { lengthOf, monthName, periodWords } from '../words/spans.ts';
import { holeIn } from './hole.ts';

const DATA_PAGE: LinkPart = { kind: 'link', text: 'what that means', path: '/data' };

/** The team that a sentence is about, or nothing: `Team Platform: `. */
export function teamWords({ team }: Pick<Filters, 'team'>): string {
  if (team === undefined) return '';
  return team === null ? 'People without a team: ' : `Team ${team}: `;
}

/** How a number compares with the same span before: `, 0.3 % less than in the same days of October`. */
export function comparison({ change, number, results }: Headline, filters: Filters, less = 'less'): Phrase {
  const before = periodBefore(filters);
  if (number.value === null || before === null) return [];
  if (change.value === null) {
    const [now] = results;
    const then = results.find(({ basis }) => basis.from === before.from && basis.until === before.until);
    const hole = now === undefined || then === undefined ? undefined : holeIn(now, then);
    return hole === undefined ? [] : [` (${hole}: ${spanWords(filters, before)})`];
  }
  const size: ShownNumber = { ...change, format: 'size' };
  if (!/[1-9]/.test(formatNumber(change.value, 'size'))) {
    return [`, as many as ${inSpan(filters, before)}`];
  }
  return [', ', size, ` ${change.value < 0 ? less : 'more'} than ${inSpan(filters, before)}`];
}

/** `in the same days of October`, `on the day before`, `in July`. */
function inSpan(now: Period, before: Period): string {
  return `${lengthOf(before) === 1 ? 'on' : 'in'} ${spanWords(now, before)}`;
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
 */
export function standing(result: Result, doubted: Result): Phrase {
  const expected = daysOf(result, 'expected');
  const { unsettled, missing } = result.basis.days;
  if (unsettled.length + missing.length === 0) {
    return expected.value === 1 ? [' The day is settled.'] : [' All ', expected, ' days are settled.'];
  }
  const open = openDays(result, doubted);
  const parts = [
    { number: open, words: 'not settled' },
    { number: doubtedDays(doubted), words: 'doubted' },
    { number: daysOf(result, 'missing'), words: 'missing' },
  ].filter(({ number }) => number.value !== 0);
  if (expected.value === 1) return [` The day is ${parts[0]?.words ?? 'not settled'}: `, DATA_PAGE, '.'];
  const phrases = parts.map(({ number, words }, index): Phrase => {
    const of = index === 0 ? [' of ', expected, ' days'] : [];
    return [index === 0 ? ' ' : ', ', number, ...of, ` ${nounFor(number, 'is', 'are')} ${words}`];
  });
  return [...phrases.flat(), ': ', DATA_PAGE, '.'];
}

function doubtedDays(doubted: Result): ShownNumber {
  return {
    kind: 'number',
    value: doubted.rows.length,
    format: 'count',
    formula: { op: 'rows', result: doubted.id },
  };
}

/** The days that are stored and not settled, without the doubted ones, which are named on their own. */
function openDays(result: Result, doubted: Result): ShownNumber {
  const unsettled = daysOf(result, 'unsettled');
  const others = doubtedDays(doubted);
  return {
    ...unsettled,
    value: (unsettled.value ?? 0) - (others.value ?? 0),
    formula: { op: 'difference', of: [unsettled.formula, others.formula] },
  };
}
