import { groupBy } from '../../core/group-by.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import type { CoverageSpan, StreamCoverage } from '../data/coverage.ts';
import type { Figure } from '../page/page.ts';
import { instantName } from '../words/instants.ts';
import { nextStep } from '../words/next-steps.ts';
import { factOf, textCell } from './listing.ts';

/** Spans that are listed. */
const SPANS_MAX = 50;

interface OpenSpan {
  readonly span: CoverageSpan;
  readonly coverage: StreamCoverage;
}

/** The days that are not settled, and what happens to them next: one row per span, newest first. */
export function unsettled(coverages: readonly StreamCoverage[]): Figure {
  const open = coverages.flatMap((coverage) =>
    coverage.spans.flatMap((span) =>
      span.state === 'loaded' || span.state === 'empty' ? [] : { span, coverage },
    ),
  );
  const groups = [
    ...groupBy(open, ({ span: { from, until, state, reason } }) => `${until} ${from} ${state} ${reason}`),
  ]
    .toSorted(([a], [b]) => (a < b ? 1 : -1))
    .map(([, spans]) => spans);
  const isCut = groups.length > SPANS_MAX;
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
      rows: groups.slice(0, SPANS_MAX).map(rowOf),
    },
    tableIs: 'shown',
    results: coverages.map(({ result }) => result),
    notes: [
      ...(isCut ? [['The queries list older spans, too.']] : []),
      ['The ledger does not record since when days fail, await data or lack a pull.'],
    ],
    empty: groups.length === 0 ? 'Every day of every stream is settled.' : undefined,
  };
}

function rowOf(spans: readonly OpenSpan[]): Figure['table']['rows'][number] {
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
