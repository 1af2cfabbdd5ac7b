import type { Grain } from '../../../schema/metrics.ts';
import type { Period } from '../../metrics/period.ts';
import { lines } from '../charts/lines.ts';
import { bucketOpenness } from '../data/buckets.ts';
import type { PageReader } from '../data/reader.ts';
import type { MetricResult } from '../data/result.ts';
import { scopeOf } from '../data/scope.ts';
import { hiddenGrain } from '../data/shown-grain.ts';
import { tryAsk } from '../data/try-ask.ts';
import { cellOf, type NumberFormat } from '../page/numbers.ts';
import type { Figure, Phrase } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';
import { BUCKET_TITLES, bucketWords, NO_WEEK } from './bucket-words.ts';
import { emptinessOf, emptyFigure, type FigureName } from './empty-figure.ts';

/** Metrics of one unit over time, each a line: means, ratios and distinct counts. */
export interface BucketLines extends FigureName {
  readonly metrics: readonly { readonly metric: string; readonly name: string }[];
  readonly grain: Grain;
  /** Null if there is no complete week. */
  readonly period: Period | null;
  readonly format: NumberFormat;
  /** True for ratios that the axis shows in per cent. */
  readonly percent?: boolean;
  /** True if the axis starts at 0. */
  readonly zero?: boolean;
  /** True if the drawing takes the width of the page. */
  readonly wide?: boolean;
  readonly notes?: readonly Phrase[];
}

/** One line per metric, and a row per day, week or month. A line has a gap where nothing is stored. */
export async function bucketLines(reader: PageReader, spec: BucketLines): Promise<Figure> {
  const { id, title, grain, period, format, percent = false, zero = false, wide = false, notes = [] } = spec;
  const hidden = hiddenGrain(reader, grain);
  if (hidden !== undefined || period === null) return emptyFigure(spec, hidden ?? NO_WEEK);
  const results: MetricResult[] = [];
  let scope = '';
  for (const { metric, name } of spec.metrics) {
    const { words, ...team } = scopeOf(reader.filters, metric);
    const asked = await tryAsk(reader, { metric, title: name, by: [grain], ...period, ...team });
    if (asked.kind === 'refusal') return emptyFigure(spec, sentenceOf(asked.why), results);
    results.push(asked.result);
    scope = words;
  }
  const [first] = results;
  if (first === undefined || results.every(({ rows }) => rows.every(({ value }) => value === null))) {
    return emptyFigure(spec, first === undefined ? NO_WEEK : emptinessOf(first), results);
  }
  return {
    kind: 'figure',
    id,
    title,
    subtitle: `${spec.unit}, ${bucketWords(grain, period, first.rows.length)}${scope}`,
    chart: lines(
      spec.metrics.map(({ name }, index) => ({ name, points: pointsOf(results[index], grain) })),
      {
        label: `${title}, ${spec.metrics.length === 1 ? 'one line' : 'lines'} over time`,
        percent,
        zero,
        wide,
        named: spec.metrics.length > 1,
      },
    ),
    table: {
      columns: [
        { title: BUCKET_TITLES[grain] },
        ...spec.metrics.map(({ name }) => ({ title: name, align: 'end' as const })),
      ],
      rows: first.rows
        .map((row, index) => [
          { kind: 'text' as const, text: String(row[grain]) },
          ...results.map((result) =>
            cellOf(result, index, format, {
              open: bucketOpenness(result, grain, String(row[grain])),
              why: WHY,
            }),
          ),
        ])
        .toReversed(),
    },
    tableIs: 'folded',
    results,
    notes,
  };
}

const WHY = 'it has no value then';

function pointsOf(result: MetricResult | undefined, grain: Grain) {
  if (result === undefined) return [];
  return result.rows.map(({ value, ...row }) => {
    const bucket = String(row[grain]);
    return { bucket, value, isOpen: bucketOpenness(result, grain, bucket) !== null };
  });
}
