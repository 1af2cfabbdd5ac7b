import type { UtcDay } from '../../../core/day.ts';
import type { DailyStream } from '../../../core/stream.ts';
import { isRecord } from '../../input/parse.ts';
import type { Lies, PartialStatus } from '../../quirks/lies.ts';
import { applies, includesDay, type RequestScope } from './days.ts';

/** Chooses the status of a successful response: 200, unless a lie makes it partial. */
export function chooseStatus({ partial }: Lies, scope: RequestScope): 200 | PartialStatus {
  return partial !== undefined && applies(partial, scope) ? partial.status : 200;
}

/** Selects the rows or reports that a response keeps. */
export function selectRecords<T>(
  records: readonly T[],
  { partial, otherRange }: Lies,
  scope: RequestScope,
): readonly T[] {
  if (otherRange !== undefined && otherRange.rows !== 'kept' && applies(otherRange, scope)) return [];
  if (partial === undefined || !applies(partial, scope) || partial.rows === 'all') return records;
  return records.slice(0, partial.rows === 'none' ? 0 : Math.floor(records.length / 2));
}

/** Replaces the numbers of a row by 0 on a day that a lie names. */
export function falsifyRow(row: object, lies: Lies, of: { stream: DailyStream; date: UtcDay }): object {
  return includesDay(lies.zeroDays, of.stream, of.date) ? setToZero(row) : row;
}

function setToZero(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]: [string, unknown]) => {
      if (typeof value === 'number') return [key, 0];
      if (Array.isArray(value)) return [key, []];
      return [key, isRecord(value) ? setToZero(value) : value];
    }),
  );
}
