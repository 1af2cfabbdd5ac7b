import { daysFrom, type UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { type CalendarDay, calendar } from '../charts/calendar.ts';
import type { Result, ShownNumber } from '../numbers.ts';
import {
  type Figure,
  type FigureName,
  MARK_NAMES,
  MARK_STATES,
  type MarkState,
  type Phrase,
} from '../page.ts';
import { dayName, instantName, periodHeading } from '../words.ts';
import {
  type CoverageSpan,
  type ExpectedDays,
  nextStep,
  type StreamCoverage,
  WORST_FIRST,
} from './day-states.ts';
import { factOf, textCell, withResult } from './listing.ts';

export const NOTHING_RUN = 'Nothing has been pulled yet: `daywalk run`.';

/** Spans that are listed; all of them are in the calendar. */
const SPANS_MAX = 60;

/** What a calendar shows. */
interface CalendarContent {
  readonly days: readonly CalendarDay[];
  /** The days in each state that occurs, in the order of the legend. */
  readonly counts: readonly StateCount[];
  /** The spans of the table. */
  readonly coverages: readonly StreamCoverage[];
  /** The first and the last day. */
  readonly from: UtcDay;
  readonly until: UtcDay;
}

/** A calendar with its legend, its counts, and a folded table of the spans behind it. */
function calendarFigure({ id, title, unit }: FigureName, content: CalendarContent): Figure {
  const { days, counts, coverages, from, until } = content;
  const named = counts.map(({ state, days: count }) => `${count.value} ${MARK_NAMES[state]}`).join('; ');
  return {
    kind: 'figure',
    id,
    title,
    subtitle: `${unit}, ${periodHeading({ from, until })}`,
    chart: calendar(days, `${title}, one square per day: ${named}`),
    table: tableOf(content),
    isTableFolded: true,
    results: coverages.map(({ result }) => result),
    notes: notesOf(content),
    legend: counts.map(({ state }) => state),
  };
}

/** How many days of a stream are in a state. */
interface StateCount {
  readonly state: MarkState;
  readonly days: ShownNumber;
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
    [`The calendar ends with ${dayName(until)}: the last day that is expected.`],
    ...(isCut ? [['The table has the newest spans; the queries list all of them.']] : []),
  ];
}

function tableOf({ coverages }: CalendarContent): Figure['table'] {
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
      { title: 'Last error' },
    ],
    rows: rows.map(({ from, until, row, state, since, pulledAt, stream, result }) => [
      textCell(from === until ? from : `${from} to ${until}`),
      ...(isSeveral ? [textCell(stream)] : []),
      factOf(result, row, 'days'),
      { kind: 'state', state },
      textCell(since, instantName),
      textCell(pulledAt, instantName),
      textCell(result.rows[row]?.['last_error']),
    ]),
  };
}

/** How the calendar of all streams is called, also while there is nothing in it. */
export const ALL_STREAMS = {
  id: 'coverage',
  title: 'All five streams',
  unit: 'One square per UTC day, the worst state of its streams',
} as const;

/**
 * One calendar of all streams: a day has the worst state of its streams, and its square names the streams that have it if
 * others are better. The table has the spans of each stream.
 * @param states the number of days in each state, see {@link dayStates}.
 */
export function allStreams({
  coverages,
  states,
  expected,
}: {
  coverages: readonly StreamCoverage[];
  states: Result;
  expected: ExpectedDays;
}): Figure {
  const counts = MARK_STATES.flatMap((state) => {
    const days = factOf(states, 0, state);
    return (days.value ?? 0) === 0 ? [] : { state, days };
  });
  const content = { ...expected, days: worstDays(coverages), counts, coverages };
  const title = expected.daily.length === DAILY_STREAMS.length ? ALL_STREAMS.title : 'All expected streams';
  return withResult(calendarFigure({ ...ALL_STREAMS, title }, content), states);
}

function worstDays(coverages: readonly StreamCoverage[]): CalendarDay[] {
  const days = new Map<UtcDay, { state: MarkState; streams: string[] }>();
  for (const { stream, spans } of coverages) {
    for (const { from, until, state } of spans) {
      for (const day of daysFrom(from, until)) {
        const worst = days.get(day);
        if (worst === undefined || rank(state) < rank(worst.state))
          days.set(day, { state, streams: [stream] });
        else if (worst.state === state) worst.streams.push(stream);
      }
    }
  }
  return [...days]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, { state, streams }]) => {
      const note = streams.length === coverages.length ? '' : ` (${streams.join(', ')})`;
      return { day, state, note };
    });
}

function rank(state: MarkState): number {
  return WORST_FIRST.indexOf(state);
}

/** Spans that are listed. */
const OPEN_SPANS_MAX = 50;

interface OpenSpan {
  readonly span: CoverageSpan;
  readonly coverage: StreamCoverage;
}

/** The days that are not settled, and what happens to them next: one row per span, newest first. */
export function unsettled(coverages: readonly StreamCoverage[]): Figure {
  const open = coverages.flatMap((coverage) =>
    coverage.spans.flatMap((span) =>
      span.state === 'loaded' || span.state === 'empty' || span.state === 'expired' ? [] : { span, coverage },
    ),
  );
  const groups = [
    ...Map.groupBy(open, ({ span: { from, until, state, reason } }) => `${until} ${from} ${state} ${reason}`),
  ]
    .toSorted(([a], [b]) => (a < b ? 1 : -1))
    .map(([, spans]) => spans);
  const isCut = groups.length > OPEN_SPANS_MAX;
  return {
    kind: 'figure',
    id: 'unsettled',
    title: 'What is not settled',
    subtitle: 'Spans of days with the same state in the same streams, newest first',
    table: {
      columns: [
        { title: 'Span' },
        { title: 'Days', align: 'end' },
        { title: 'Streams' },
        { title: 'State' },
        { title: 'Since' },
        { title: 'What happens next' },
      ],
      rows: groups.slice(0, OPEN_SPANS_MAX).map(openRowOf),
    },
    results: coverages.map(({ result }) => result),
    notes: [
      ...(isCut ? [['The queries list older spans, too.']] : []),
      ['The ledger does not record since when days fail, await data or lack a pull.'],
    ],
    empty: groups.length === 0 ? 'Every expected day is settled in its streams.' : undefined,
  };
}

function openRowOf(spans: readonly OpenSpan[]): Figure['table']['rows'][number] {
  const [first] = spans;
  if (first === undefined) return [];
  const { span, coverage } = first;
  const since = spans.flatMap(({ span: own }) => own.since ?? []).toSorted()[0] ?? null;
  const streams = spans.map((open) => open.coverage.stream);
  return [
    textCell(span.from === span.until ? span.from : `${span.from} to ${span.until}`),
    factOf(coverage.result, span.row, 'days'),
    textCell(streams.length === DAILY_STREAMS.length ? 'all five' : streams.join(', ')),
    { kind: 'state', state: span.state },
    textCell(since, instantName),
    textCell(nextStep(span.state, span.reason)),
  ];
}
