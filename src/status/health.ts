import { daysFrom, FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../core/day.ts';
import { EXIT } from '../core/exit-code.ts';
import { DAILY_STREAMS, STREAMS } from '../core/stream.ts';
import { readUnits } from '../ledger/index.ts';
import { listOrganizations } from '../organizations/index.ts';
import type { Warehouse } from '../port/index.ts';
import { pendingErasures, type RunRecord, readRuns } from '../records/index.ts';
import { dateOf, type LedgerUnit } from '../units/index.ts';
import { daysWithData } from './gaps.ts';

const HOUR_MS = 3_600_000;
/** A run that has not ended after this time counts as hanging. */
const RUN_MS_MAX = 24 * HOUR_MS;
/** An erasure that is not complete after this time was interrupted. */
const ERASURE_MS_MAX = HOUR_MS;
/** A stream is silent when it has no data on this many days, up to the newest exported one, … */
const SILENT_DAYS = 4;
/** … and had some within this many days before them. */
const BEFORE_DAYS = 7;

/** Whether a warehouse is healthy, and why. */
export interface Health {
  readonly healthy: boolean;
  /** The deciding fact, without a full stop. */
  readonly reason: string;
  /** When the last complete export ended, of the organization that waits longest for one; null when there was none. */
  readonly lastCompleteExportAt: string | null;
}

/** How to assess a warehouse. */
interface HealthQuestion {
  readonly now: Date;
  readonly maxAgeHours: number;
  /** The names in the organizations file. @default null, every organization in the ledger is assessed */
  readonly names?: readonly string[] | null;
  /**
   * Whether a run is in progress.
   * @default asks the run lock
   */
  readonly isRunning?: boolean;
}

/**
 * Assesses a warehouse. It is healthy when every organization had a complete export of all streams within `maxAgeHours`,
 * or a run is in progress, no stream of any organization has fallen silent, and no erasure was interrupted. Writes nothing.
 */
export async function assessHealth(
  warehouse: Warehouse,
  { now, maxAgeHours, names = null, isRunning: known }: HealthQuestion,
): Promise<Health> {
  const organizations = await listOrganizations(warehouse, names);
  const exports: { readonly prefix: string; readonly endedAt: string | null }[] = [];
  for (const { name, orgId } of organizations) {
    const prefix = organizations.length === 1 ? '' : `${name ?? orgId}: `;
    const { units, last } = await lastExport(warehouse, orgId);
    const endedAt = last?.endedAt ?? null;
    const [silent] = last === undefined ? [] : silentStreams(units, dueAt(last));
    if (silent !== undefined)
      return { healthy: false, reason: `${prefix}${silent}`, lastCompleteExportAt: endedAt };
    exports.push({ prefix, endedAt });
  }
  const oldest = exports.toSorted((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? -1 : 1))[0];
  const lastCompleteExportAt = oldest?.endedAt ?? null;
  const ageMs = lastCompleteExportAt === null ? null : now.getTime() - Date.parse(lastCompleteExportAt);
  const isFresh = ageMs !== null && ageMs <= maxAgeHours * HOUR_MS;
  if (!isFresh && (known ?? (await isRunning(warehouse, now))))
    return { healthy: true, reason: 'a run is in progress', lastCompleteExportAt };
  const last =
    lastCompleteExportAt === null
      ? 'no complete export of all streams is on record'
      : `the last complete export of all streams ended at ${lastCompleteExportAt.slice(0, 16)}Z`;
  const erasure = (await pendingErasures(warehouse)).find(({ beganAt }) => isOverdue(beganAt, now));
  if (isFresh && erasure !== undefined) {
    const reason = `an erasure that began at ${erasure.beganAt} is not complete: repeat daywalk erase`;
    return { healthy: false, reason, lastCompleteExportAt };
  }
  const late = lastCompleteExportAt === null || isFresh ? '' : `, more than ${maxAgeHours} hours ago`;
  return { healthy: isFresh, reason: `${oldest?.prefix ?? ''}${last}${late}`, lastCompleteExportAt };
}

function isOverdue(beganAt: string, now: Date): boolean {
  return now.getTime() - Date.parse(beganAt) > ERASURE_MS_MAX;
}

/** The last complete export of an organization, and its units. */
async function lastExport(warehouse: Warehouse, orgId: string | null) {
  if (orgId === null) return { units: [], last: undefined };
  const units = await readUnits(warehouse, orgId);
  const runs = await readRuns(warehouse, RUNS_MAX, orgId);
  return { units, last: runs.find((run) => isCompleteExport(run, units)) };
}

/** The newest day that a run could pull. */
function dueAt({ startedAt }: RunRecord): UtcDay {
  return yesterdayOf(new Date(startedAt));
}

/**
 * True for a complete run over all streams and days: every stream has been pulled since the run began, and no unit up
 * to its newest day is still to be pulled for the first time.
 */
function isCompleteExport(run: RunRecord, units: readonly LedgerUnit[]): boolean {
  if (!isCompleteRun(run)) return false;
  const due = dueAt(run);
  const dueDays = daysFrom(FIRST_DAY, due).length;
  return STREAMS.every((stream) => {
    const own = units.filter((unit) => unit.stream === stream);
    const held = own.filter((unit) => unit.state !== 'pending' && dateOf(unit) <= due).length;
    const expected = stream === 'readiness' ? 1 : dueDays;
    return held >= expected && own.some(({ lastPulledAt }) => (lastPulledAt ?? '') >= run.startedAt);
  });
}

/** A sentence for each silent stream, see {@link SILENT_DAYS}. */
function silentStreams(units: readonly LedgerUnit[], last: UtcDay): string[] {
  const first = shiftDay(last, 1 - SILENT_DAYS);
  const before = shiftDay(first, -BEFORE_DAYS);
  return DAILY_STREAMS.flatMap((stream) => {
    const days = daysWithData(units, stream);
    const hadData = days.some((day) => day >= before && day < first);
    const hasData = days.some((day) => day >= first && day <= last);
    return hadData && !hasData
      ? [`${stream} has no data from ${first} to ${last}, and had some in the week before`]
      : [];
  });
}

/** True when a run has been recorded without an end and the run lock is held. A killed run does not hold it. */
async function isRunning(warehouse: Warehouse, now: Date): Promise<boolean> {
  const runs = await readRuns(warehouse, RUNS_MAX);
  const begun = runs.some(
    ({ endedAt, startedAt }) => endedAt === null && now.getTime() - Date.parse(startedAt) < RUN_MS_MAX,
  );
  // If nobody can tell whether it is held, the recorded run decides.
  return begun && (await warehouse.isLocked());
}

/** Runs that are searched for the last complete one. */
export const RUNS_MAX = 100;

/**
 * True for a run that left nothing out. Quarantined records do not count, as long as no unit failed: a record that
 * stays wrong at the service must not make every night look stale. Backfills are never complete runs.
 */
export function isCompleteRun({ command, endedAt, exitCode, unitsFailed }: RunRecord): boolean {
  if (endedAt === null || command === 'backfill') return false;
  return exitCode === EXIT.ok || (exitCode === EXIT.quarantine && unitsFailed === 0);
}
