import { daysFrom, FIRST_DAY, shiftDay, type UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../core/stream.ts';
import { isStored } from '../metrics/stored-units.ts';
import { isDayUnit, type LedgerDay, type LedgerUnit, unitName } from '../warehouse/port.ts';

/** A day that is missing this many days after its end needs a person: the nightly runs have not brought it. */
export const MISSING_AFTER_DAYS = 3;

/** A day of a stream that is missing, and why: nobody has pulled it, or every pull of it has failed. */
export interface MissingDay {
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly state: 'pending' | 'failed';
}

/**
 * The days from the first day of the service that ended at least {@link MISSING_AFTER_DAYS} days before `today` and are not
 * stored, by stream, oldest first. An awaiting unit is not missing: the service has answered that it is idle. Neither is
 * one that failed after an earlier pull had stored it. Metrics and notifications share this rule.
 */
export function missingDays(units: readonly LedgerUnit[], today: UtcDay): MissingDay[] {
  const ledger = new Map(units.filter(isDayUnit).map((unit) => [unitName(unit), unit]));
  const days = daysFrom(FIRST_DAY, shiftDay(today, -MISSING_AFTER_DAYS - 1));
  return DAILY_STREAMS.flatMap((stream) =>
    days.flatMap((day): MissingDay[] => {
      const state = whyMissing(ledger.get(unitName({ stream, day })));
      return state === null ? [] : [{ stream, day, state }];
    }),
  );
}

function whyMissing(unit: LedgerDay | undefined): MissingDay['state'] | null {
  if (unit === undefined) return 'pending';
  const { state } = unit;
  return (state === 'pending' || state === 'failed') && !isStored(unit) ? state : null;
}
