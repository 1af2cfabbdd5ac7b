import type { Period } from '../../metrics/period.ts';
import { dayBars } from '../charts/day-bars.ts';
import type { PageReader } from '../data/reader.ts';
import { cellOf, type NumberFormat } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { bucketWords } from './bucket-words.ts';
import { emptinessOf, emptyFigure } from './empty-figure.ts';

/** A metric that adds up, as one bar per day of a period. */
export async function perDay(
  reader: PageReader,
  {
    metric,
    id,
    title,
    unit,
    format,
    period,
    divisor = 1,
  }: {
    metric: string;
    id: string;
    title: string;
    unit: string;
    format: NumberFormat;
    period: Period;
    divisor?: number;
  },
): Promise<Figure> {
  const result = await reader.ask({ metric, title, by: ['date'], ...period });
  if (result.rows.every(({ value }) => value === null))
    return emptyFigure({ id, title, unit }, emptinessOf(result), [result]);
  const open = new Set<unknown>(result.basis.days.unsettled);
  const days = result.rows.map((row, index) => ({ row, index, isOpen: open.has(row['date']) }));
  return {
    kind: 'figure',
    id,
    title,
    subtitle: `${unit}, ${bucketWords('date', period, days.length)}; weekends lighter, what is not settled is hatched`,
    chart: dayBars(
      days.map(({ row, isOpen }) => ({
        day: String(row['date']) as typeof period.from,
        value: row.value,
        isOpen,
      })),
      { label: `${title}, one bar per day`, divisor },
    ),
    table: {
      columns: [{ title: 'Day' }, { title, align: 'end' }],
      rows: days
        .map(({ row, index, isOpen }) => [
          { kind: 'text' as const, text: String(row['date']) },
          cellOf(result, index, format, {
            open: isOpen ? 'the day is not settled' : null,
            why: 'the day is not stored',
          }),
        ])
        .toReversed(),
    },
    tableIs: 'folded',
    results: [result],
  };
}
