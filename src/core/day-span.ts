import { shiftDay, type UtcDay } from './day.ts';

/** Days in a row. */
export interface DaySpan {
  readonly from: UtcDay;
  readonly until: UtcDay;
}

/**
 * Joins days that follow each other.
 * @param days in ascending order
 */
export function spansOf(days: readonly UtcDay[]): DaySpan[] {
  const spans: DaySpan[] = [];
  for (const day of days) {
    const last = spans.at(-1);
    if (last !== undefined && shiftDay(last.until, 1) === day) {
      spans.splice(-1, 1, { from: last.from, until: day });
    } else spans.push({ from: day, until: day });
  }
  return spans;
}
