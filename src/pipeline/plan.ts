import { daysFrom, type UtcDay } from '../core/day.ts';
import { isDailyStream, type Stream } from '../core/stream.ts';
import { type DayUnit, type LedgerUnit, unitName } from '../warehouse/port.ts';

/** What a run is asked to bring up to date. */
export interface PlanRequest {
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly streams: readonly Stream[];
  /** Pull settled units too. */
  readonly force: boolean;
  readonly newestFirst: boolean;
}

/** What a run will do, in this order. */
export interface Plan {
  readonly units: readonly DayUnit[];
  /** The readiness reports have no end that could settle them: they are walked in every run that names them. */
  readonly readiness: boolean;
}

/**
 * The units of the request that the ledger does not call settled: never pulled, awaited, failed, quarantined, or
 * pulled too young. Progress is what the ledger says, never what the data suggests.
 */
export function planUnits(request: PlanRequest, ledger: readonly LedgerUnit[]): Plan {
  const settled = new Set(ledger.filter((unit) => unit.settledAt !== null).map(unitName));
  const days = daysFrom(request.firstDay, request.lastDay);
  if (request.newestFirst) days.reverse();
  const streams = request.streams.filter(isDailyStream);
  const units = days.flatMap((day) => streams.map((stream) => ({ stream, day })));
  return {
    units: request.force ? units : units.filter((unit) => !settled.has(unitName(unit))),
    readiness: request.streams.includes('readiness'),
  };
}
