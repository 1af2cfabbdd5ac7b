import type { UtcDay } from '../../core/day.ts';
import type { LedgerUnit } from '../../warehouse/port.ts';
import type { DayBatch } from '../batch.ts';

/**
 * What is asked in place of a range without any row, of which some days have settled: the newest of them that is stored
 * with activity. If it has no row either, the range was an answer, and that day speaks for all. Undefined where no day is
 * stored with activity.
 */
export function probeOf({ stream }: DayBatch, watched: readonly LedgerUnit[]): DayBatch | undefined {
  const days = watched.flatMap(({ day }): UtcDay[] => (day === '' ? [] : [day]));
  const newest = watched.findLast(({ state }) => state !== 'empty')?.day ?? '';
  return newest === '' ? undefined : { stream, days: [newest], speaksFor: days };
}
