import type { UtcDay } from '../../../core/day.ts';
import type { LedgerUnit } from '../../../warehouse/port.ts';
import type { DayBatch } from '../../batch.ts';

/**
 * What is asked in place of a range without any row over settled days. It is no answer, unless the newest day that is
 * stored with activity has no row either when it is asked alone: then that day speaks for all. Nothing is asked where no
 * day of the range is stored with activity.
 */
export function askInstead({ stream }: DayBatch, watched: readonly LedgerUnit[]): DayBatch[] {
  const own = watched.flatMap(({ day }): UtcDay[] => (day === '' ? [] : [day]));
  const newest = watched.findLast(({ state }) => state !== 'empty')?.day ?? '';
  return newest === '' ? [] : [{ stream, days: [newest], speaksFor: own }];
}
