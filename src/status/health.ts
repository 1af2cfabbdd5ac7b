import { daysFrom, FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../core/day.ts';
import { DaywalkError } from '../core/errors.ts';
import type { JobContext } from '../core/job-context.ts';
import { DAILY_STREAMS, STREAMS } from '../core/stream.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerUnit, RunRecord, Warehouse } from '../warehouse/port.ts';
import { withWarehouse } from '../warehouse/with-warehouse.ts';
import { daysWithData } from './days-with-data.ts';
import { isComplete, RUNS_MAX } from './status.ts';

const HOUR_MS = 3_600_000;
/** A run that has not ended after so long hangs. */
const RUN_MS_MAX = 24 * HOUR_MS;
/** A stream without data on so many days, up to the newest one that was exported, has fallen silent … */
const SILENT_DAYS = 4;
/** … if it had some within so many days before. */
const BEFORE_DAYS = 7;

/** Whether a warehouse is well, and why. */
export interface Health {
  readonly healthy: boolean;
  /** What decides, without a full stop. */
  readonly reason: string;
  /** When the newest complete export of all streams ended, of the organization that decides; null when none did. */
  readonly lastCompleteExportAt: string | null;
}

/**
 * Reads whether a warehouse is well: a complete export of all streams ended within `maxAgeHours` or a run is under way, and
 * no stream has fallen silent. Every organization of the warehouse counts. One that cannot be read is not well.
 */
export async function readHealth(
  { warehouse: location }: Settings,
  { clock }: Pick<JobContext, 'clock'>,
  maxAgeHours: number,
): Promise<Health> {
  try {
    return await withWarehouse(location, { clock, create: false }, (warehouse) =>
      healthOf(warehouse, clock.now(), maxAgeHours),
    );
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    return { healthy: false, reason: error.message, lastCompleteExportAt: null };
  }
}

async function healthOf(warehouse: Warehouse, now: Date, maxAgeHours: number): Promise<Health> {
  const runs = await warehouse.runs(RUNS_MAX);
  const organizations = await warehouse.organizations();
  const exports: { readonly prefix: string; readonly endedAt: string | null }[] = [];
  for (const orgId of organizations) {
    const units = await warehouse.units(orgId);
    const last = runs.find((run) => run.orgId === orgId && isCompleteExport(run, units));
    const endedAt = last?.endedAt ?? null;
    const prefix = organizations.length === 1 ? '' : `${orgId}: `;
    const [silent] = last === undefined ? [] : silentStreams(units, dueAt(last));
    if (silent !== undefined)
      return { healthy: false, reason: `${prefix}${silent}`, lastCompleteExportAt: endedAt };
    exports.push({ prefix, endedAt });
  }
  const oldest = exports.toSorted((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? -1 : 1))[0];
  const lastCompleteExportAt = oldest?.endedAt ?? null;
  const ageMs = lastCompleteExportAt === null ? null : now.getTime() - Date.parse(lastCompleteExportAt);
  const isFresh = ageMs !== null && ageMs <= maxAgeHours * HOUR_MS;
  if (!isFresh && (await isRunning(warehouse, runs, now)))
    return { healthy: true, reason: 'a run is under way', lastCompleteExportAt };
  const last =
    lastCompleteExportAt === null
      ? 'no complete export of all streams is on record'
      : `the last complete export of all streams ended at ${lastCompleteExportAt.slice(0, 16)}Z`;
  const late = lastCompleteExportAt === null || isFresh ? '' : `, more than ${maxAgeHours} hours ago`;
  return { healthy: isFresh, reason: `${oldest?.prefix ?? ''}${last}${late}`, lastCompleteExportAt };
}

/** The newest day that a run could ask for. */
function dueAt({ startedAt }: RunRecord): UtcDay {
  return yesterdayOf(new Date(startedAt));
}

/**
 * True for a run that left nothing out, and was not narrowed: since it began every stream was pulled, and no unit up to
 * its newest day was never pulled.
 */
function isCompleteExport(run: RunRecord, units: readonly LedgerUnit[]): boolean {
  if (!isComplete(run)) return false;
  const due = dueAt(run);
  const dueDays = daysFrom(FIRST_DAY, due).length;
  return STREAMS.every((stream) => {
    const own = units.filter((unit) => unit.stream === stream);
    const held = own.filter(({ day, state }) => day <= due && state !== 'pending').length;
    const expected = stream === 'readiness' ? 1 : dueDays;
    return held >= expected && own.some(({ lastPulledAt }) => (lastPulledAt ?? '') >= run.startedAt);
  });
}

/** A sentence for each stream that had data in the week before the last days, and has none on them. */
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

/** True while a run is recorded without its end and its lock is held: one that was killed holds none. */
async function isRunning(warehouse: Warehouse, runs: readonly RunRecord[], now: Date): Promise<boolean> {
  const begun = runs.some(
    ({ endedAt, startedAt }) => endedAt === null && now.getTime() - Date.parse(startedAt) < RUN_MS_MAX,
  );
  return begun && (await isLocked(warehouse));
}

/** Takes the lock for an instant, because nothing else tells whether it is free. */
async function isLocked(warehouse: Warehouse): Promise<boolean> {
  try {
    await (await warehouse.lock({ exclusive: true })).release();
    return false;
  } catch (error) {
    // It is held, or this user may not lock; what the run wrote of itself must do then.
    if (error instanceof DaywalkError) return true;
    throw error;
  }
}
