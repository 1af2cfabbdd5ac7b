import type { Dimension, Grain } from '../../../schema/metrics.ts';
import type { Period } from '../../metrics/period.ts';
import { stacks } from '../charts/stacks.ts';
import { bucketOpenness, bucketsOf } from '../data/buckets.ts';
import type { Group } from '../data/groups.ts';
import type { PageReader } from '../data/reader.ts';
import type { MetricResult } from '../data/result.ts';
import { scopeOf } from '../data/scope.ts';
import { hiddenGrain } from '../data/shown-grain.ts';
import { tryAsk } from '../data/try-ask.ts';
import { viewedGroups } from '../data/viewed-groups.ts';
import { type NumberFormat, noNumber, type ShownNumber, wholeSumOf } from '../page/numbers.ts';
import type { Figure, Table } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';
import { BUCKET_TITLES, bucketWords, NO_WEEK } from './bucket-words.ts';
import { emptyFigure, type FigureName } from './empty-figure.ts';

/** A metric that adds up, cut by time and by one other dimension. */
export interface StackedGroups extends FigureName {
  readonly metric: string;
  readonly by: Dimension;
  readonly grain: Extract<Grain, 'week' | 'month'>;
  /** Null if there is no complete week. */
  readonly period: Period | null;
  readonly format: NumberFormat;
  /** Of the chart's axis. */
  readonly divisor?: number;
  /** True if the drawing takes the width of the page. */
  readonly wide?: boolean;
  /** What to say if no group occurs. */
  readonly empty?: string;
}

/** Stacked bars per week or month: the four largest groups, and the others together. */
export async function stackedGroups(reader: PageReader, spec: StackedGroups): Promise<Figure> {
  const { metric, title, by, grain, period } = spec;
  const hidden = hiddenGrain(reader, grain);
  if (hidden !== undefined || period === null) return emptyFigure(spec, hidden ?? NO_WEEK);
  const { words, ...scope } = scopeOf(reader.filters, metric);
  const asked = await tryAsk(reader, { metric, title, by: [grain, by], ...period, ...scope });
  if (asked.kind === 'refusal') return emptyFigure(spec, sentenceOf(asked.why));
  const { result } = asked;
  const { format, divisor = 1, wide = false } = spec;
  const groups = viewedGroups(reader, result, { group: by, bucket: grain, format });
  const buckets = bucketsOf(result, grain);
  if (groups.every(({ total }) => total.value === null))
    return emptyFigure(spec, reasonOf(spec, result), [result]);
  const others = groups.some(({ isOthers }) => isOthers) ? '; the others together' : '';
  return {
    kind: 'figure',
    id: spec.id,
    title,
    subtitle: `${spec.unit}, ${bucketWords(grain, period, buckets.length)}${words}${others}`,
    chart: stacks(partsOf(groups, buckets, { result, grain }), {
      label: `${title}, stacked bars`,
      groups: groups.map(({ name }) => name),
      divisor,
      wide,
    }),
    table: tableOf(groups, buckets, spec),
    tableIs: 'folded',
    results: [result],
  };
}

function partsOf(
  groups: readonly Group[],
  buckets: readonly string[],
  { result, grain }: { result: MetricResult; grain: Grain },
) {
  return buckets.flatMap((bucket) => {
    const isOpen = bucketOpenness(result, grain, bucket) !== null;
    return groups.map(({ name, numbers }) => ({
      bucket,
      group: name,
      value: numbers.get(bucket)?.value ?? null,
      isOpen,
    }));
  });
}

function tableOf(
  groups: readonly Group[],
  buckets: readonly string[],
  { grain, format }: StackedGroups,
): Table {
  return {
    columns: [
      { title: BUCKET_TITLES[grain] },
      ...groups.map(({ name }) => ({ title: name, align: 'end' as const })),
      { title: 'Together', align: 'end' },
    ],
    rows: buckets
      .map((bucket) => {
        const cells = groups.map(({ numbers }) => numbers.get(bucket) ?? nothing(format));
        const known = groups.flatMap(({ numbers }) => numbers.get(bucket) ?? []);
        return [{ kind: 'text' as const, text: bucket }, ...cells, wholeSumOf(known, format)];
      })
      .toReversed(),
  };
}

function nothing(format: NumberFormat): ShownNumber {
  return noNumber('nothing occurred in it', format);
}

function reasonOf({ empty }: StackedGroups, { warnings, basis }: MetricResult): string {
  const { missing, expected } = basis.days;
  if (missing.length === expected) return 'No day of this period is stored.';
  const [warning] = warnings;
  return empty ?? (warning === undefined ? 'Nothing occurred in this period.' : sentenceOf(warning));
}
