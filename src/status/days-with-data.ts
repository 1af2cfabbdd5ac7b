import type { UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import { isDayUnit, type LedgerUnit } from '../warehouse/port.ts';

/** The days on which a stream has stored activity, oldest first. */
export function daysWithData(units: readonly LedgerUnit[], stream: Stream): UtcDay[] {
  return units
    .filter(isDayUnit)
    .filter((unit) => unit.stream === stream && hasActivity(unit))
    .map(({ day }) => day)
    .sort();
}

/** Rows of zeros are not activity. A failed or doubted unit keeps the rows that it had. */
function hasActivity({ state, rows }: LedgerUnit): boolean {
  return rows > 0 && state !== 'empty' && state !== 'awaiting';
}
