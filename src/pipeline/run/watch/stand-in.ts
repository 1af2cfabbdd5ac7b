import type { LedgerDay } from '../../../warehouse/port.ts';
import type { DayBatch } from '../../batch.ts';

/**
 * Chooses what to request instead of a range of settled days that was answered without rows. An empty list may be a
 * mistake, so the newest day with stored activity is requested alone. If it has no row either, all days of the range
 * count as answered without rows. Nothing is requested if no day of the range has stored activity.
 */
export function chooseStandIn({ stream }: DayBatch, watched: readonly LedgerDay[]): DayBatch[] {
  const newest = watched.findLast(({ state }) => state !== 'empty');
  if (newest === undefined) return [];
  return [{ stream, days: [newest.day], speaksFor: watched.map(({ day }) => day) }];
}
