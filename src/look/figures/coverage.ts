import { daysFrom, FIRST_DAY, type UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { isRestricted } from '../audience/audience.ts';
import { type CalendarDay, calendar } from '../charts/calendar.ts';
import { type CoverageSpan, lastExpectedDay, type StreamCoverage, streamCoverage } from '../data/coverage.ts';
import type { PageReader } from '../data/reader.ts';
import { type ShownNumber, sumOf } from '../page/numbers.ts';
import { type Figure, MARK_NAMES, MARK_STATES, type MarkState, type Phrase } from '../page/page.ts';
import { instantName } from '../words/instants.ts';
import { dayName, periodHeading } from '../words/spans.ts';
import { emptyFigure, type FigureName } from './empty-figure.ts';
import { factOf, textCell } from './listing.ts';

export const NOTHING_RUN = 'Nothing has been pulled yet: `daywalk run`.';

/** Spans that are listed; all of them are in the calendar. */
const SPANS_MAX = 60;

/**
 * A calendar of a stream, one square per day, from the first day of the service to the last day that the warehouse should
 * hold: see {@link lastExpectedDay}. Its table has one row per span of days in the same state, newest first.
 */
export async function coverage(
  reader: PageReader,
  { stream, id = `coverage-${stream}`, title }: { stream: DailyStream; id?: string; title?: string },
): Promise<Figure> {
  const until = await lastExpectedDay(reader);
  const square = title === undefined ? 'One square' : `Stream ${stream}, one square`;
  const name = { id, title: title ?? `Stream ${stream}`, unit: `${square} per UTC day` };
  if (until === null) return emptyFigure(name, NOTHING_RUN);
  const covered = await streamCoverage(reader, stream, until);
  const counts = countsOf(covered);
  return calendarFigure(name, {
    days: covered.spans.flatMap(({ from, until: last, state }) =>
      daysFrom(from, last).map((day) => ({ day, state })),
    ),
    counts,
    coverages: [covered],
    until,
    withErrors: !isRestricted(reader.viewer),
  });
}

/** What a calendar shows. */
export interface CalendarContent {
  readonly days: readonly CalendarDay[];
  /** The days in each state that occurs, in the order of the legend. */
  readonly counts: readonly StateCount[];
  /** The spans of the table. */
  readonly coverages: readonly StreamCoverage[];
  /** The last day. */
  readonly until: UtcDay;
  /** True to show the errors of pulls, which may hold parts of responses. */
  readonly withErrors: boolean;
}

/** A calendar with its legend, its counts, and a folded table of the spans behind it. */
export function calendarFigure({ id, title, unit }: FigureName, content: CalendarContent): Figure {
  const { days, counts, coverages, until } = content;
  const named = counts.map(({ state, days: count }) => `${count.value} ${MARK_NAMES[state]}`).join('; ');
  return {
    kind: 'figure',
    id,
    title,
    subtitle: `${unit}, ${periodHeading({ from: FIRST_DAY, until })}`,
    chart: calendar(days, `${title}, one square per day: ${named}`),
    table: tableOf(content),
    tableIs: 'folded',
    results: coverages.map(({ result }) => result),
    notes: notesOf(content),
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

function notesOf({ counts, coverages, until }: CalendarContent): Phrase[] {
  const parts = counts.flatMap(({ state, days }, index) => [
    ...(index === 0 ? [] : ['; ']),
    days,
    ` ${MARK_NAMES[state]}`,
  ]);
  const isCut = coverages.reduce((sum, { spans }) => sum + spans.length, 0) > SPANS_MAX;
  return [
    ['Days: ', ...parts, '.'],
    [
      `The calendar ends with ${dayName(until)}: the day before the newest run, or the newest day of the ledger if it is later.`,
    ],
    ...(isCut ? [['The table has the newest spans; the queries list all of them.']] : []),
  ];
}

function tableOf({ coverages, withErrors }: CalendarContent): Figure['table'] {
  const rows = coverages
    .flatMap(({ spans, ...coverage }) => spans.map((span) => ({ ...span, ...coverage })))
    .toSorted((a, b) => (a.until === b.until ? 0 : a.until < b.until ? 1 : -1))
    .slice(0, SPANS_MAX);
  const isSeveral = coverages.length > 1;
  return {
    columns: [
      { title: 'Span' },
      ...(isSeveral ? [{ title: 'Stream' }] : []),
      { title: 'Days', align: 'end' },
      { title: 'State' },
      { title: 'Since' },
      { title: 'Last pulled', isSpare: true },
      ...(withErrors ? [{ title: 'Last error' }] : []),
    ],
    rows: rows.map(({ from, until, row, state, since, pulledAt, stream, result }) => [
      textCell(from === until ? from : `${from} to ${until}`),
      ...(isSeveral ? [textCell(stream)] : []),
      factOf(result, row, 'days'),
      { kind: 'state', state },
      textCell(since, instantName),
      textCell(pulledAt, instantName),
      ...(withErrors ? [textCell(result.rows[row]?.['last_error'])] : []),
    ]),
  };
}
