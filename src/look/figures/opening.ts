import { type SQL, sql } from '../../../schema/query.ts';
import { shiftDay } from '../../core/day.ts';
import { contractOf, dailyOf } from '../../expected/index.ts';
import type { Period } from '../../metrics/index.ts';
import { runReads } from '../../port/index.ts';
import { cellOf, daysOf, formatNumber, type Result, type ShownNumber } from '../numbers.ts';
import {
  emptyFigure,
  type Figure,
  type Headline,
  type LinkPart,
  MARK_STATES,
  type MarkState,
  type Phrase,
} from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';
import { holeIn, periodBefore } from '../time-spans.ts';
import { dayName, lengthOf, monthName, nounFor, periodWords } from '../words.ts';
import { IN_FIRST_LOOKS } from './day-states.ts';

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
  if (expected.value === 1) return [` The day is ${parts[0]?.words ?? 'not settled'}: `, DATA_PAGE, '.'];
  const phrases = parts.map(({ number, words }, index): Phrase => {
    const of = index === 0 ? [' of ', expected, ' days'] : [];
    return [index === 0 ? ' ' : ', ', number, ...of, ` ${nounFor(number, 'is', 'are')} ${words}`];
  });
  return [...phrases.flat(), ': ', DATA_PAGE, '.', ...first];
}

/** One sentence about history that has not been seen often enough: how often, and when it settles. */
function firstLooksOf({ basis: { firstLooks, days } }: Result): Phrase {
  if (firstLooks === null || firstLooks === undefined) return [];
  const { days: seen, settlesOn, looks } = firstLooks;
  const which = seen.size === days.unsettled.length ? 'They' : 'The older ones';
  return [` ${which} have been seen ${looks === 1 ? 'once' : 'twice'} and settle on ${dayName(settlesOn)}.`];
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

const OPEN_DAYS_MAX = 10;
const OPEN_DAYS = { id: 'open-days', title: 'What is not settled yet', unit: 'Days and streams' } as const;

/** Days of the period whose rows of users are doubted, one row each. */
export function doubtedDays({ filters, select }: PageReader): Promise<Result> {
  const query = sql`SELECT date FROM export_units
WHERE ${unitsOf(filters)} AND stream = 'users' AND state = 'doubted' ORDER BY date`;
  return select({ title: 'Doubted days', query, streams: ['users'] });
}

/** The days of the period that may still change in some stream, newest first, and what happens to them. */
export async function openDays(reader: PageReader, doubted: Result): Promise<Figure> {
  const query = sql`SELECT date, mark, COUNT(*) AS streams FROM (
  SELECT date, CASE WHEN ${IN_FIRST_LOOKS} THEN 'seen'
    WHEN state IN ('doubted', 'failed', 'quarantined', 'awaiting', 'pending') THEN state ELSE 'open' END AS mark
  FROM export_units u
  WHERE ${unitsOf(reader.filters)} AND (settled_at IS NULL OR state = 'doubted' OR confirmed = 'age')
) u GROUP BY date, mark ORDER BY date DESC, mark`;
  const contract = await runReads(reader.warehouse, contractOf(reader.filters.orgId));
  const result = await reader.select({ title: OPEN_DAYS.title, query, streams: dailyOf(contract) });
  const missing = daysOf(result, 'missing');
  const hole: Phrase = [
    missing,
    ` ${nounFor(missing, 'day is', 'days are')} missing in at least one stream.`,
  ];
  const notes = missing.value === 0 ? [] : [hole];
  const results = [result, doubted];
  if (result.rows.length === 0) {
    const empty =
      missing.value === 0
        ? 'Every day of the period is settled in all expected streams.'
        : 'Every stored day is settled.';
    return { ...emptyFigure(OPEN_DAYS, empty, results), notes };
  }
  return {
    kind: 'figure',
    id: OPEN_DAYS.id,
    title: OPEN_DAYS.title,
    subtitle: 'Days of the period that may still change, newest first',
    table: {
      columns: [
        { title: 'Day' },
        { title: 'State' },
        { title: 'Streams', align: 'end' },
        { title: 'What happens', isSpare: true },
      ],
      rows: result.rows.slice(0, OPEN_DAYS_MAX).map(({ date, mark }, index) => {
        const state = markOf(mark);
        return [
          { kind: 'text', text: String(date) },
          { kind: 'state', state },
          cellOf(result, index, 'count', { column: 'streams', open: null }),
          { kind: 'text', text: WHAT_HAPPENS[state], isMuted: true },
        ];
      }),
    },
    tableIs: 'shown',
    results,
    notes: [...notes, ...(result.rows.length > OPEN_DAYS_MAX ? [OLDER] : [])],
  };
}

const OLDER: Phrase = ['Older days are on the page ', { kind: 'link', text: 'Data', path: '/data' }, '.'];

/** The daily units of the period. Readiness reports have no day. */
function unitsOf({ orgId, from, until }: PageReader['filters']): SQL {
  return sql`org_id = ${orgId} AND stream <> 'readiness' AND date BETWEEN ${from} AND ${until}`;
}

function markOf(value: unknown): MarkState {
  return MARK_STATES.find((state) => state === value) ?? 'open';
}

const WHAT_HAPPENS: Readonly<Record<MarkState, string>> = {
  loaded: '',
  empty: '',
  seen: 'it settles once looks on three days have found the same',
  open: 'every run pulls it again until it is old enough to be final',
  awaiting: 'no data yet; the next run asks again',
  doubted: 'an answer would have removed rows; the stored rows stay until that is clear',
  failed: 'the last pull failed; the next run tries again',
  quarantined: 'some records could not be stored',
  pending: 'never pulled; the next run pulls it',
  expired: '',
};
