import { OPEN_END } from '../../schema/row.ts';
import { FIRST_DAY } from '../core/day.ts';
import type { Mistakes } from './csv-columns.ts';

/** A line of a file that is valid on some days. */
interface LineOfPeriod {
  readonly line: number;
  readonly row: { readonly valid_from: string; readonly valid_to: string | null };
}

/** The last day of a period as it is stored: null if it has no end. */
export function storedEnd(valid_to: string | null): string | null {
  return valid_to === OPEN_END ? null : valid_to;
}

/** Finds a period that ends before it begins. */
export function addReversed({ line, row: { valid_from, valid_to } }: LineOfPeriod, mistakes: Mistakes): void {
  if (valid_to === null || valid_to >= valid_from) return;
  const message = `valid_to ${valid_to} is before valid_from ${valid_from}`;
  const hint = `exchange the two days, or leave out the line if its period ended before the first day of the data, ${FIRST_DAY}`;
  mistakes.add({ line, message, hint });
}

/** Two lines that share a day. */
interface Overlap<Line> {
  /** The first of them in the file. */
  readonly first: Line;
  /** In the order of their periods. */
  readonly earlier: Line;
  readonly later: Line;
}

/**
 * Finds lines that share a day. Reports the second of them in the file.
 * @param sorted in the order of their first days
 */
export function addOverlaps<Line extends LineOfPeriod>(
  sorted: readonly Line[],
  mistakes: Mistakes,
  describe: (overlap: Overlap<Line>) => { readonly message: string; readonly hint: string },
): void {
  for (const [index, later] of sorted.entries()) {
    const earlier = sorted[index - 1];
    if (earlier === undefined || (earlier.row.valid_to ?? OPEN_END) < later.row.valid_from) continue;
    const [first, second] = earlier.line < later.line ? [earlier, later] : [later, earlier];
    mistakes.add({ line: second.line, ...describe({ first, earlier, later }) });
  }
}

/** Sorts lines by the first days of their periods. */
export function sortedByStart<Line extends LineOfPeriod>(lines: readonly Line[]): Line[] {
  return lines.toSorted((a, b) =>
    a.row.valid_from === b.row.valid_from ? a.line - b.line : a.row.valid_from < b.row.valid_from ? -1 : 1,
  );
}
