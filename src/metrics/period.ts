import { type SQL, sql } from '../../schema/query.ts';
import { dayOf, daysBetween, FIRST_DAY, isDay, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import type { Stream } from '../core/stream.ts';
import { spanStart } from '../expected/index.ts';
import { isDayUnit, isStored, type LedgerUnit, storedUnit } from '../units/index.ts';

/** The longest period, about ten years, so that a slip in the year does not ask for millions of rows. */
export const PERIOD_DAYS_MAX = 3_660;

/** The first and last day of a question, if they were given. */
export interface AskedPeriod {
  readonly from?: UtcDay | undefined;
  readonly until?: UtcDay | undefined;
}

/** A period, both days included. */
export interface Period {
  readonly from: UtcDay;
  readonly until: UtcDay;
}

/**
 * The period of a question. By default it starts on the first expected day and ends on the newest loaded day of the
 * streams: of several, on the earliest of these days; for readiness, on the day of the last complete walk.
 * @param units the ledger's rows of the streams, in any order.
 * @param firstDay the first expected day. @default the first day of the service
 * @throws {UsageError} if the period is reversed, starts before the service, is too long, or if nothing is loaded that
 * could end it.
 */
export function resolvePeriod(
  units: readonly LedgerUnit[],
  streams: readonly Stream[],
  { from: first, until: asked }: AskedPeriod,
  firstDay?: UtcDay,
): Period {
  const until = asked ?? newestOfAll(units, streams);
  const from = first ?? spanStart(FIRST_DAY, until, { firstDay });
  if (from < FIRST_DAY) {
    throw new UsageError(`the period starts on ${from}, before the first day of the service`, {
      hint: `the first day with data is ${FIRST_DAY}`,
    });
  }
  if (until < from) {
    throw new UsageError(
      asked === undefined
        ? `the period starts on ${from}, after the newest loaded day, ${until}`
        : `the period is reversed: it starts on ${from} and ends on ${until}`,
      { hint: 'choose a first day that is not after the last day' },
    );
  }
  if (daysBetween(from, until) >= PERIOD_DAYS_MAX) {
    throw new UsageError(`the period from ${from} to ${until} is longer than ${PERIOD_DAYS_MAX} days`, {
      hint: 'choose an earlier last day',
    });
  }
  return { from, until };
}

function newestOfAll(units: readonly LedgerUnit[], streams: readonly Stream[]): UtcDay {
  const newest = streams.map((stream) => ({
    stream,
    day: newestOf(units.filter((unit) => unit.stream === stream)),
  }));
  const [first, ...others] = newest.flatMap(({ day }) => day ?? []);
  if (first === undefined || others.length + 1 < streams.length) {
    const missing = newest.flatMap(({ stream, day }) => (day === null ? [stream] : []));
    throw new UsageError(`nothing of the stream ${missing.join(', ')} is loaded yet`, {
      hint: 'run the export first, or give the last day of the period',
    });
  }
  return others.reduce((earliest, day) => (day < earliest ? day : earliest), first);
}

function newestOf(units: readonly LedgerUnit[]): UtcDay | null {
  const days = units.flatMap((unit) =>
    isDayUnit(unit) ? (isLoaded(unit) ? unit.day : []) : (walkedOn(unit) ?? []),
  );
  return days.reduce<UtcDay | null>((newest, day) => (newest === null || day > newest ? day : newest), null);
}

/** The day of the last complete walk over the readiness reports. After a failed one, the day on which they last changed. */
function walkedOn(unit: LedgerUnit): UtcDay | null {
  if (!isStored(unit)) return null;
  const hasFailed = unit.state === 'failed' || unit.state === 'pending';
  const instant = hasFailed ? (unit.changedAt ?? unit.firstLoadedAt) : unit.lastPulledAt;
  const day = instant === null ? null : dayOf(new Date(instant));
  return isDay(day) ? day : null;
}

/** True if a unit is stored and has activity. An empty unit is stored but not loaded. */
export function isLoaded(unit: Parameters<typeof isStored>[0]): boolean {
  const { state, rows } = unit;
  if (state === 'empty' || state === 'awaiting') return false;
  return state === 'loaded' || (isStored(unit) && rows > 0);
}

/** The condition of {@link isLoaded} in SQL, over `export_units` under an alias. */
export function loadedUnit(alias: string): SQL {
  const unit = sql.raw(alias);
  return sql`(${unit}.state = 'loaded' OR (${unit}.state NOT IN ('empty', 'awaiting') AND ${unit}.rows > 0 AND ${storedUnit(alias)}))`;
}
