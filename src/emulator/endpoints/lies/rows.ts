import type { UtcDay } from '../../../core/day.ts';
import type { DailyStream } from '../../../core/stream.ts';
import { isRecord } from '../../input/parse.ts';
import type { Lies, PartialStatus } from '../../quirks/lies.ts';
import { applies, namesDay, type RequestScope } from './days.ts';

/** The status of an answer that is not refused: 200, unless a lie says that it is no full answer. */
export function chooseStatus(lies: Lies, asked: RequestScope): 200 | PartialStatus {
  const { partial } = lies;
  return partial !== undefined && applies(partial, asked) ? partial.status : 200;
}

/** The rows or reports that an answer keeps of those that it should have. */
export function selectRecords<T>(records: readonly T[], lies: Lies, asked: RequestScope): readonly T[] {
  const { partial, otherRange } = lies;
  if (otherRange !== undefined && otherRange.rows !== 'kept' && applies(otherRange, asked)) return [];
  if (partial === undefined || !applies(partial, asked) || partial.rows === 'all') return records;
  return records.slice(0, partial.rows === 'none' ? 0 : Math.floor(records.length / 2));
}

/** The row, with zeros in place of its numbers on a day of which a lie says so. */
export function falsifyRow(row: object, lies: Lies, of: { stream: DailyStream; date: UtcDay }): object {
  return namesDay(lies.zeroDays, of.stream, of.date) ? zeroed(row) : row;
}

function zeroed(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]: [string, unknown]) => {
      if (typeof value === 'number') return [key, 0];
      if (Array.isArray(value)) return [key, []];
      return [key, isRecord(value) ? zeroed(value) : value];
    }),
  );
}
