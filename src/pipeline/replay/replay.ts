import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { expectNotErased, readErased } from '../../warehouse/erased-list.ts';
import { isDayUnit, type LedgerDay, unitName, type Warehouse } from '../../warehouse/port.ts';
import { refreshRollups } from '../../warehouse/rollups/refresh.ts';
import { ArchivedReadings } from './archived-readings.ts';
import { type ReplayDay, type ReplayOutcome, replayDay } from './replay-day.ts';
import { type ReplayReadiness, replayReadiness } from './replay-readiness.ts';

/** What to replay, for one organization. */
export interface ReplayedOrganization {
  readonly orgId: string;
  /** In the order of their pulls, so that days settle as they did. */
  readonly days: readonly ReplayDay[];
  /** Null if there are none, or if they are not asked for. */
  readonly readiness: ReplayReadiness | null;
}

export interface ReplayOptions {
  /** Its run lock is held. */
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly versions: Readonly<Record<string, string>>;
}

/** What a replay has done. */
export interface ReplayReport {
  readonly orgId: string;
  readonly exitCode: ExitCode;
  /** Units that were stored, and units that were stored already. */
  readonly stored: number;
  readonly same: number;
  /** Units that the warehouse has pulled later than the archive; they stay as they are. */
  readonly newer: readonly string[];
  readonly rowsWritten: number;
}

/**
 * Stores archived answers of one organization as runs would have, without a request: rows, ledger and rollups. May be repeated
 * and interrupted at will; what is stored already is not written again.
 * @throws {StorageError} if the archive is damaged or the warehouse fails; the units before stay.
 */
export async function replayOrganization(
  { orgId, days, readiness }: ReplayedOrganization,
  { warehouse, clock, signal, versions }: ReplayOptions,
): Promise<ReplayReport> {
  const erased = await readErased(warehouse);
  expectNotErased(erased, orgId);
  const readings = new ArchivedReadings({ warehouse, clock, erased, orgId });
  const runId = randomUUID();
  await warehouse.startRun({ runId, command: 'replay', startedAt: clock.now(), versions });
  const known = new Map<string, LedgerDay>();
  for (const unit of await warehouse.units(orgId)) if (isDayUnit(unit)) known.set(unitName(unit), unit);
  const total = { stored: 0, same: 0, newer: [] as string[], rowsWritten: 0 };
  const count = (name: string, outcome: ReplayOutcome) => {
    if (outcome.kind === 'newer') total.newer.push(name);
    else total[outcome.kind] += 1;
    if (outcome.kind === 'stored') total.rowsWritten += outcome.rowsWritten;
  };
  for (const day of days) {
    signal.throwIfAborted();
    const name = unitName(day);
    count(name, await replayDay(day, { warehouse, runId, known: known.get(name), readings }));
  }
  if (readiness !== null)
    count('readiness', await replayReadiness(readiness, { warehouse, runId, readings }));
  await refreshRollups(warehouse, { orgId, now: clock.now(), signal });
  const exitCode = total.newer.length > 0 ? EXIT.upstream : EXIT.ok;
  await warehouse.endRun({
    ...{ runId, orgId, exitCode, rowsWritten: total.rowsWritten, endedAt: clock.now() },
    ...{ unitsDone: total.stored + total.same, unitsFailed: 0, requests: 0, retries: 0 },
    ...{ responses: {}, completed: [] },
  });
  return { orgId, exitCode, ...total };
}
