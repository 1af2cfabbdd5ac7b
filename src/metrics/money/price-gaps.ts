import { FIRST_DAY, isDay, shiftDay, type UtcDay } from '../../core/day.ts';
import type { DaySpan } from '../../core/day-span.ts';
import { OPEN_END, type PriceRow } from './prices-file.ts';

type Period = Pick<PriceRow, 'valid_from' | 'valid_to'>;

/**
 * The days without a price: from the first day of the service to the newest loaded day, and between two prices.
 * @param prices in the order of their periods, without overlaps
 */
export function daysWithoutPrice(prices: readonly Period[], newest: UtcDay | null): DaySpan[] {
  const gaps: DaySpan[] = [];
  let next: UtcDay = FIRST_DAY;
  for (const { valid_from, valid_to } of prices) {
    if (isDay(valid_from) && valid_from > next) gaps.push({ from: next, until: shiftDay(valid_from, -1) });
    if (valid_to === null || valid_to === OPEN_END || !isDay(valid_to)) return gaps;
    const after = shiftDay(valid_to, 1);
    if (after > next) next = after;
  }
  if (newest !== null && next <= newest) gaps.push({ from: next, until: newest });
  return gaps;
}

/** The days among these that have no price. */
export function unpricedAmong(days: readonly UtcDay[], prices: readonly Period[]): UtcDay[] {
  return days.filter(
    (day) => !prices.some(({ valid_from, valid_to }) => valid_from <= day && (valid_to ?? OPEN_END) >= day),
  );
}
