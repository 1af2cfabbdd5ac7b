import type { LedgerDay } from '../../../warehouse/port.ts';
import type { DayBatch } from '../../batch.ts';

/**
 * What is asked in place of a range without any row over settled days. It is no answer, unless the newest day that is
 * stored with activity has no row either when it is asked alone: then that day speaks for all. Nothing is asked where no
 * day of the range is stored with activity.
 */
export function chooseStandIn({ stream }: DayBatch, watched: readonly LedgerDay[]): DayBatch[] {
  const newest = watched.findLast(({ state }) => state !== 'empty');
  if (newest === undefined) return [];
  return [{ stream, days: [newest.day], speaksFor: watched.map(({ day }) => day) }];
}
