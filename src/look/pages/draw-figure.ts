import { FIRST_DAY, shiftDay, type UtcDay } from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';
import { completeWeeks, monthsUntil } from '../data/compare.ts';
import type { PageReader } from '../data/reader.ts';
import { type BucketBars, bucketBars } from '../figures/bucket-bars.ts';
import { type BucketLines, bucketLines } from '../figures/bucket-lines.ts';
import { WEEKS } from '../figures/bucket-words.ts';
import { type DistinctGroups, distinctGroups } from '../figures/distinct-groups.ts';
import { type Ranking, ranking } from '../figures/ranking.ts';
import { type StackedGroups, stackedGroups } from '../figures/stacked-groups.ts';
import type { Figure, Pair } from '../page/page.ts';

/** The time that a figure shows, whatever period is chosen: it ends with the last day of the period. */
type Span =
  | { readonly grain: 'week'; readonly weeks?: number }
  | { readonly grain: 'month'; readonly months: number }
  | { readonly grain: 'date'; readonly days: number };

type Over<Spec> = Omit<Spec, 'grain' | 'period'>;
type Sums = Exclude<Span, { grain: 'date' }>;

/** A figure of a page as data: how it is drawn, over which time, and of what. A ranking is about the chosen period. */
export type FigureSpec =
  | ({ readonly draw: 'lines' } & Span & Over<BucketLines>)
  | ({ readonly draw: 'distinct' } & Span & Over<DistinctGroups>)
  | ({ readonly draw: 'bars' } & Sums & Over<BucketBars>)
  | ({ readonly draw: 'stacks' } & Sums & Over<StackedGroups>)
  | ({ readonly draw: 'ranking' } & Ranking);

/** Reads and draws a figure. */
export function drawFigure(reader: PageReader, spec: FigureSpec): Promise<Figure> {
  if (spec.draw === 'ranking') return ranking(reader, spec);
  const period = periodOf(spec, reader.filters.until);
  switch (spec.draw) {
    case 'lines':
      return bucketLines(reader, { ...spec, period });
    case 'distinct':
      return distinctGroups(reader, { ...spec, period });
    case 'bars':
      return bucketBars(reader, { ...spec, period });
    default:
      return stackedGroups(reader, { ...spec, period });
  }
}

/** Two figures side by side. */
export async function drawPair(reader: PageReader, first: FigureSpec, second: FigureSpec): Promise<Pair> {
  return { kind: 'pair', figures: [await drawFigure(reader, first), await drawFigure(reader, second)] };
}

function periodOf(span: Span, until: UtcDay): Period | null {
  switch (span.grain) {
    case 'week':
      return completeWeeks(until, span.weeks ?? WEEKS);
    case 'month':
      return monthsUntil(until, span.months);
    default: {
      const from = shiftDay(until, 1 - span.days);
      return { from: from < FIRST_DAY ? FIRST_DAY : from, until };
    }
  }
}
