import { daysFrom, FIRST_DAY, type UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { isRestricted } from '../audience/audience.ts';
import { calendar } from '../charts/calendar.ts';
import { type CoverageSpan, lastExpectedDay, type StreamCoverage, streamCoverage } from '../data/coverage.ts';
import type { PageReader } from '../data/reader.ts';
import { type ShownNumber, sumOf } from '../page/numbers.ts';
import { type Figure, MARK_NAMES, MARK_STATES, type MarkState, type Phrase } from '../page/page.ts';
import { instantName } from '../words/instants.ts';
import { dayName, periodHeading } from '../words/spans.ts';
import { factOf, textCell } from './listing.ts';

const NOTHING_RUN = 'Nothing has been pulled yet: `daywalk run`';

/** Spans that are listed; all of them are in the calendar. */
const SPANS_MAX = 50;

/**
 * A calendar of a stream, one square per day, from the first day of the service to the last day that the warehouse should
 * hold: see {@link lastExpectedDay}; `tellsEnd` adds a sentence about that day. Its table has one row per span of days in the same state, newest first.
 */
export async function coverage(
  reader: PageReader,
  {
    stream,
    id = `coverage-${stream}`,
    title,
    tellsEnd = true,
  }: { stream: DailyStream; id?: string; title?: string; tellsEnd?: boolean },
): Promise<Figure> {
  const until = await lastExpectedDay(reader);
  const square = title === undefined ? 'One square' : `Stream ${stream}, one square`;
  const figure = { kind: 'figure', id, title: title ?? `Stream ${stream}`, tableIs: 'folded' } as const;
  if (until === null) {
    const table = { columns: [], rows: [] };
    return { ...figure, subtitle: `${square} per UTC day`, table, results: [], empty: NOTHING_RUN };
  }
  const covered = await streamCoverage(reader, stream, until);
  const counts = countsOf(covered);
  return {
    ...figure,
    subtitle: `${square} per UTC day, ${periodHeading({ from: FIRST_DAY, until })}`,
    chart: calendar(
      covered.spans.flatMap((span) =>
        daysFrom(span.from, span.until).map((day) => ({ day, state: span.state })),
      ),
      `${stream}, one square per day: ${counts.map(({ state, days }) => `${days.value} ${MARK_NAMES[state]}`).join('; ')}`,
    ),
    table: tableOf(covered, !isRestricted(reader.viewer)),
    results: [covered.result],
    notes: notesOf(covered, counts, tellsEnd ? until : null),
    legend: counts.map(({ state }) => state),
  };
}

/** How many days of a stream are in a state. */
export interface StateCount {
  readonly state: MarkState;
  readonly days: ShownNumber;
}

/** Counts the days of a stream in each state that occurs, in the order of the legend. */
export function countsOf({ spans, result }: StreamCoverage): StateCount[] {
  return MARK_STATES.flatMap((state) => {
    const own = spans.filter((span) => span.state === state);
    return own.length === 0 ? [] : { state, days: sumOf(own.map(daysIn(result)), 'count') };
  });
}

function daysIn(result: StreamCoverage['result']): (span: CoverageSpan) => ShownNumber {
  return ({ row }) => factOf(result, row, 'days');
}

function notesOf(
  { spans, result }: StreamCoverage,
  counts: readonly StateCount[],
  until: UtcDay | null,
): Phrase[] {
  const parts = counts.flatMap(({ state, days }, index) => [
    ...(index === 0 ? [] : ['; ']),
    days,
    ` ${MARK_NAMES[state]}`,
  ]);
  const spanCount: ShownNumber = {
    kind: 'number',
    value: result.rows.length,
    format: 'count',
    formula: { op: 'rows', result: result.id },
  };
  return [
    ['Days: ', ...parts, '.'],
    ...(until === null
      ? []
      : [
          [
            `The calendar ends with ${dayName(until)}: the day before the newest run, or the newest day of the ledger if it is later.`,
          ],
        ]),
    ...(spans.length > SPANS_MAX ? [['The table has the newest of ', spanCount, ' spans.']] : []),
  ];
}

function tableOf({ spans, result }: StreamCoverage, withErrors: boolean): Figure['table'] {
  const days = daysIn(result);
  const rows = spans.toReversed().slice(0, SPANS_MAX);
  return {
    columns: [
      { title: 'Span' },
      { title: 'Days', align: 'end' },
      { title: 'State' },
      { title: 'Since' },
      { title: 'Last pulled', isSpare: true },
      ...(withErrors ? [{ title: 'Last error' }] : []),
    ],
    rows: rows.map((span) => [
      { kind: 'text', text: span.from === span.until ? span.from : `${span.from} to ${span.until}` },
      days(span),
      { kind: 'state', state: span.state },
      textCell(span.since, instantName),
      textCell(span.pulledAt, instantName),
      ...(withErrors ? [textCell(result.rows[span.row]?.['last_error'])] : []),
    ]),
  };
}
