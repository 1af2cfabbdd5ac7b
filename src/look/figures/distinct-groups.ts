import type { Dimension, Grain } from '../../../schema/metrics.ts';
import type { Period } from '../../metrics/period.ts';
import { mergedGroups, namelessOf, PEOPLE_DIMENSIONS } from '../audience/audience.ts';
import { lines } from '../charts/lines.ts';
import { bucketOpenness, bucketsOf } from '../data/buckets.ts';
import type { PageReader } from '../data/reader.ts';
import type { MetricResult } from '../data/result.ts';
import { scopeOf } from '../data/scope.ts';
import { hiddenGrain } from '../data/shown-grain.ts';
import { cellOf, noNumber, type ShownNumber } from '../page/numbers.ts';
import type { Figure, Phrase } from '../page/page.ts';
import { BUCKET_TITLES, bucketWords, NO_WEEK } from './bucket-words.ts';
import { emptinessOf, emptyFigure, type FigureName } from './empty-figure.ts';

/** Lines that can be told apart; the table has all groups. */
const LINES_MAX = 4;
const COLUMNS_MAX = 12;

/** A count of distinct people, cut by time and by one other dimension. */
export interface DistinctGroups extends FigureName {
  readonly metric: string;
  readonly by: Dimension;
  readonly grain: Grain;
  /** Null if there is no complete week. */
  readonly period: Period | null;
  readonly notes: readonly Phrase[];
}

/** One line per group. Groups are never added: someone can be in several. Groups that are too small are left out. */
export async function distinctGroups(reader: PageReader, spec: DistinctGroups): Promise<Figure> {
  const { metric, title, by, grain, period } = spec;
  const hidden = hiddenGrain(reader, grain);
  if (hidden !== undefined || period === null) return emptyFigure(spec, hidden ?? NO_WEEK);
  const { words, ...scope } = scopeOf(reader.filters, metric);
  const result = await reader.ask({ metric, title, by: [grain, by], ...period, ...scope });
  const all = countsOf(result, by, grain);
  const groups = all.filter(({ name }) => isShown(reader, by, name)).slice(0, COLUMNS_MAX);
  const buckets = bucketsOf(result, grain);
  if (groups.length === 0) return emptyFigure(spec, emptinessOf(result), [result]);
  const cell = (counts: ReadonlyMap<string, ShownNumber>, bucket: string) =>
    counts.get(bucket) ?? noNumber('nobody was counted');
  return {
    kind: 'figure',
    id: spec.id,
    title,
    subtitle: `${spec.unit}, ${bucketWords(grain, period, buckets.length)}${words}`,
    chart: lines(
      groups.slice(0, LINES_MAX).map(({ name, counts }) => ({
        name,
        points: buckets.map((bucket) => ({
          bucket,
          value: counts.get(bucket)?.value ?? null,
          isOpen: bucketOpenness(result, grain, bucket) !== null,
        })),
      })),
      { label: `${title}, lines over time`, zero: true },
    ),
    table: {
      columns: [
        { title: BUCKET_TITLES[grain] },
        ...groups.map(({ name }) => ({ title: name, align: 'end' as const })),
      ],
      rows: buckets
        .map((bucket) => [
          { kind: 'text' as const, text: bucket },
          ...groups.map(({ counts }) => cell(counts, bucket)),
        ])
        .toReversed(),
    },
    tableIs: 'folded',
    results: [result],
    notes: [...spec.notes, ...leftOut(all.length - groups.length, groups.length)],
  };
}

/** The groups with their count in each bucket, those with the largest count of all first. */
function countsOf(result: MetricResult, by: Dimension, grain: Grain) {
  const groups = new Map<string, Map<string, ShownNumber>>();
  for (const [index, row] of result.rows.entries()) {
    if (row[by] === null && row.value === null) continue;
    const name = String(row[by] ?? namelessOf('delegation_level'));
    const bucket = String(row[grain]);
    const counts = groups.get(name) ?? new Map<string, ShownNumber>();
    counts.set(bucket, cellOf(result, index, 'count', { open: bucketOpenness(result, grain, bucket) }));
    groups.set(name, counts);
  }
  const most = (counts: ReadonlyMap<string, ShownNumber>) =>
    Math.max(...[...counts.values()].map(({ value }) => value ?? 0));
  return [...groups]
    .map(([name, counts]) => ({ name, counts }))
    .toSorted((a, b) => most(b.counts) - most(a.counts) || (a.name < b.name ? -1 : 1));
}

function isShown({ viewer }: PageReader, by: Dimension, name: string): boolean {
  const dimension = PEOPLE_DIMENSIONS.find((known) => known === by);
  return dimension === undefined || !mergedGroups(viewer, dimension).has(name);
}

function leftOut(hidden: number, shown: number): Phrase[] {
  const lineless = shown - LINES_MAX;
  return [
    ...(lineless > 0 ? [['The chart has the largest groups only; the table has all.']] : []),
    ...(hidden > 0 ? [[`${hidden} ${hidden === 1 ? 'group is' : 'groups are'} not shown.`]] : []),
  ];
}
