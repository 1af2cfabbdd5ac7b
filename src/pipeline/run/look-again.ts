import type { UtcDay } from '../../core/day.ts';
import type { RuleName } from '../../core/rules.ts';
import type { LedgerUnit } from '../../warehouse/port.ts';
import { batchesOf, type DayBatch } from '../batch.ts';

/**
 * What is asked in place of a range whose answer says too little of the settled days in it; nothing where no other request
 * would say more. A range without any row is no answer, unless the newest day that is stored with activity has none
 * either: then that day speaks for all. A part that fits nowhere spoils the days that it is asked for with, so they are
 * asked without those that are not settled, or in halves.
 */
export function lookAgainAt(
  { stream, days }: DayBatch,
  watched: readonly LedgerUnit[],
  reason: RuleName | undefined,
): DayBatch[] {
  const own = watched.flatMap(({ day }): UtcDay[] => (day === '' ? [] : [day]));
  if (reason === undefined) {
    const isMixed = own.length < days.length;
    return batchesOf(stream, own, isMixed ? days.length : Math.ceil(days.length / 2));
  }
  if (reason !== 'range-without-rows') return [];
  const newest = watched.findLast(({ state }) => state !== 'empty')?.day ?? '';
  return newest === '' ? [] : [{ stream, days: [newest], speaksFor: own }];
}
