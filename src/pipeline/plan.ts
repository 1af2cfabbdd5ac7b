import { daysFrom, type UtcDay } from '../core/day.ts';
import { isDailyStream, type Stream } from '../core/stream.ts';
import { type DayUnit, type LedgerUnit, unitName } from '../warehouse/port.ts';

export interface PlanRequest {
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly streams: readonly Stream[];
  /** Pull settled units too. */
  readonly force: boolean;
  readonly newestFirst: boolean;
}

/** What a run will pull, in this order. */
export interface Plan {
  readonly units: readonly DayUnit[];
  /** Readiness reports never settle: every run that includes the stream walks them. */
  readonly readiness: boolean;
}

/**
 * The units of the request that are not settled: never pulled, awaiting, failed, quarantined, doubted, or pulled too
 * young. Only the ledger decides; the stored data do not.
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
