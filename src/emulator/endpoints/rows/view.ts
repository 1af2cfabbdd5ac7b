import type { UtcDay } from '../../../core/day.ts';
import type { Dataset } from '../../dataset/dataset.ts';
import type { Quirks } from '../../quirks/quirks.ts';

/** One day as an endpoint renders it. */
export interface DayView {
  readonly dataset: Dataset;
  readonly quirks: Quirks;
  /** The day, counted from the first day with data, and as it is written. */
  readonly day: number;
  readonly date: UtcDay;
}

/** The rows that an endpoint has for one day; none when nothing happened. */
export type RowSource = (view: DayView) => readonly object[];

/** The names whose count is above 0, the highest count first. */
export function ranked(
  names: readonly string[],
  counts: ArrayLike<number>,
): { readonly name: string; readonly count: number }[] {
  return names
    .map((name, index) => ({ name, count: counts[index] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

/** A quotient with at most four fraction digits; 0 when nothing is divided. */
export function ratioOf(amount: number, by: number): number {
  return by === 0 ? 0 : Math.round((amount * 10_000) / by) / 10_000;
}
