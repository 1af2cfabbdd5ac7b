import { stacks } from '../charts/stacks.ts';
import { bucketOpenness } from '../data/buckets.ts';
import { completeWeeks } from '../data/compare.ts';
import type { PageReader } from '../data/reader.ts';
import { scopeOf } from '../data/scope.ts';
import { hiddenGrain } from '../data/shown-grain.ts';
import { cellOf, type NumberFormat } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { bucketWords, NO_WEEK, WEEKS } from './bucket-words.ts';
import { emptinessOf, emptyFigure, type FigureName } from './empty-figure.ts';

/** A metric that adds up, as one bar per complete week. */
export async function perWeek(
  reader: PageReader,
  spec: FigureName & { metric: string; format: NumberFormat; divisor?: number },
): Promise<Figure> {
  const { metric, id, title, unit, format, divisor = 1 } = spec;
  const period = completeWeeks(reader.filters.until, WEEKS);
  const hidden = hiddenGrain(reader, 'week');
  if (hidden !== undefined || period === null) return emptyFigure(spec, hidden ?? NO_WEEK);
  const { words, ...scope } = scopeOf(reader.filters, metric);
  const result = await reader.ask({ metric, title, by: ['week'], ...period, ...scope });
  if (result.rows.every(({ value }) => value === null))
    return emptyFigure(spec, emptinessOf(result), [result]);
  const weeks = result.rows.map(({ week, value }) => {
    const bucket = String(week);
    return { bucket, value, open: bucketOpenness(result, 'week', bucket) };
  });
  return {
    kind: 'figure',
    id,
    title,
    subtitle: `${unit}, ${bucketWords('week', period, weeks.length)}${words}`,
    chart: stacks(
      weeks.map(({ bucket, value, open }) => ({ bucket, value, group: title, isOpen: open !== null })),
      { label: `${title}, one bar per week`, groups: [title], divisor, wide: true, named: false },
    ),
    table: {
      columns: [{ title: 'Week from' }, { title, align: 'end' }],
      rows: weeks
        .map(({ bucket, open }, index) => [
          { kind: 'text' as const, text: bucket },
          cellOf(result, index, format, { open, why: 'no day of the week is stored' }),
        ])
        .toReversed(),
    },
    tableIs: 'folded',
    results: [result],
  };
}
