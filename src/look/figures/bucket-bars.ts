import type { Grain } from '../../../schema/metrics.ts';
import type { Period } from '../../metrics/period.ts';
import { stacks } from '../charts/stacks.ts';
import { bucketOpenness } from '../data/buckets.ts';
import type { PageReader } from '../data/reader.ts';
import type { MetricResult } from '../data/result.ts';
import { hiddenGrain } from '../data/shown-grain.ts';
import { cellOf, type NumberFormat } from '../page/numbers.ts';
import type { Figure, Phrase } from '../page/page.ts';
import { BUCKET_TITLES, bucketWords, NO_WEEK } from './bucket-words.ts';
import { emptinessOf, emptyFigure, type FigureName } from './empty-figure.ts';

/** Metrics of user rows that add up over time, one bar per week or month; several are parts of one bar. */
export interface BucketBars extends FigureName {
  readonly metrics: readonly { readonly metric: string; readonly name: string }[];
  readonly grain: Extract<Grain, 'week' | 'month'>;
  /** Null if there is no complete week. */
  readonly period: Period | null;
  readonly format: NumberFormat;
  readonly notes?: readonly Phrase[];
}

/** One bar per week or month, and a row for each. A bar is missing where nothing is stored. */
export async function bucketBars(reader: PageReader, spec: BucketBars): Promise<Figure> {
  const { id, title, grain, period, format, metrics, notes = [] } = spec;
  const hidden = hiddenGrain(reader, grain);
  if (hidden !== undefined || period === null) return emptyFigure(spec, hidden ?? NO_WEEK);
  const results: MetricResult[] = [];
  for (const { metric, name } of metrics) {
    results.push(await reader.ask({ metric, title: name, by: [grain], ...period }));
  }
  const [first] = results;
  if (first === undefined || results.every(({ rows }) => rows.every(({ value }) => value === null))) {
    return emptyFigure(spec, first === undefined ? NO_WEEK : emptinessOf(first), results);
  }
  return {
    kind: 'figure',
    id,
    title,
    subtitle: `${spec.unit}, ${bucketWords(grain, period, first.rows.length)}`,
    chart: stacks(
      metrics.flatMap(({ name }, index) => partsOf(results[index], { name, grain })),
      {
        label: `${title}, one bar per ${grain}`,
        groups: metrics.map(({ name }) => name),
        named: metrics.length > 1,
      },
    ),
    table: {
      columns: [
        { title: BUCKET_TITLES[grain] },
        ...metrics.map(({ name }) => ({ title: name, align: 'end' as const })),
      ],
      rows: first.rows
        .map((row, index) => [
          { kind: 'text' as const, text: String(row[grain]) },
          ...results.map((result) =>
            cellOf(result, index, format, {
              open: bucketOpenness(result, grain, String(row[grain])),
              why: 'no day of it is stored',
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

function partsOf(result: MetricResult | undefined, { name, grain }: { name: string; grain: Grain }) {
  return (result?.rows ?? []).map((row) => {
    const bucket = String(row[grain]);
    const isOpen = result !== undefined && bucketOpenness(result, grain, bucket) !== null;
    return { bucket, group: name, value: row.value, isOpen };
  });
}
