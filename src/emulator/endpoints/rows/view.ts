import type { UtcDay } from '../../../core/day.ts';
import type { Dataset } from '../../dataset/dataset.ts';
import type { Quirks } from '../../quirks/quirks.ts';

/** One day for which an endpoint writes rows. */
export interface DayView {
  readonly dataset: Dataset;
  readonly quirks: Quirks;
  /** Counts from the first day with data; `date` is the same day. */
  readonly day: number;
  readonly date: UtcDay;
}

/** Writes the rows of one day; none when nothing happened. */
export type RowSource = (view: DayView) => readonly object[];

/** Lists the names whose count is above 0, the highest count first. */
export function rank(
  names: readonly string[],
  counts: ArrayLike<number>,
): { readonly name: string; readonly count: number }[] {
  return names
    .map((name, index) => ({ name, count: counts[index] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

/** Divides and rounds to four decimal places; 0 when the divisor is 0. */
export function divide(amount: number, by: number): number {
  return by === 0 ? 0 : Math.round((amount * 10_000) / by) / 10_000;
}
