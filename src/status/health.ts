import { shiftDay, type UtcDay, yesterdayOf } from '../core/day.ts';
import { needsPerson } from '../core/exit-code.ts';
import type { DailyStream, Stream } from '../core/stream.ts';
import { dailyOf, FIRST_EXPORT_HOURS, readExpectation } from '../expected/index.ts';
import { readUnits } from '../ledger/index.ts';
import { listOrganizations } from '../organizations/index.ts';
import type { Warehouse } from '../port/index.ts';
import { lastDecided, pendingErasures, type RunRecord, readRuns } from '../records/index.ts';
import { isDayUnit, type LedgerUnit } from '../units/index.ts';

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
  /** How old the last complete export may be. @default what the contract of each organization allows */
  readonly maxAgeHours?: number | undefined;
  /** The names in the organizations file. @default null, every organization in the ledger is assessed */
  readonly names?: readonly string[] | null;
  /**
   * Whether a run is in progress.
   * @default asks the run lock
   */
  readonly isRunning?: boolean;
}

/**
 * Assesses a warehouse. It is healthy when every organization had a complete export of all expected streams recently enough, or
 * a run is in progress, the last run did not end with an error that only a person ends, no expected stream has fallen
 * silent, and no erasure was interrupted. Writes nothing.
 */
export async function assessHealth(
  warehouse: Warehouse,
  { now, maxAgeHours, names = null, isRunning: known }: HealthQuestion,
): Promise<Health> {
  const organizations = await listOrganizations(warehouse, names);
  const states: (Health & { readonly isLate: boolean })[] = [];
  for (const { name, orgId } of organizations) {
    const isOnly = organizations.length === 1;
    const prefix = isOnly ? '' : `${name ?? orgId}: `;
    const runs = await readRuns(warehouse, RUNS_MAX, { now, ...(!isOnly && { orgId: orgId ?? '' }) });
    const own = runs.filter((run) => run.orgId === orgId || (isOnly && run.orgId === null));
    const found = await assessOrganization(warehouse, orgId, { now, maxAgeHours, runs: own });
    const state = { ...found, reason: `${prefix}${found.reason}` };
    if (!state.healthy && !state.isLate) return healthOf(state);
    states.push(state);
  }
  const waits = (state: (typeof states)[number]) => state.lastCompleteExportAt ?? '';
  const oldest = states.toSorted(
    (a, b) => Number(b.isLate) - Number(a.isLate) || (waits(a) < waits(b) ? -1 : 1),
  )[0];
  if (oldest === undefined || oldest.isLate) {
    const late = oldest === undefined ? { reason: NEVER, lastCompleteExportAt: null } : healthOf(oldest);
    const runs = known ?? (await isRunning(warehouse, now));
    return runs ? { ...late, healthy: true, reason: 'a run is in progress' } : { ...late, healthy: false };
  }
  const isOverdue = (beganAt: string) => now.getTime() - Date.parse(beganAt) > ERASURE_MS_MAX;
  const erasure = (await pendingErasures(warehouse)).find(({ beganAt }) => isOverdue(beganAt));
  if (erasure === undefined) return healthOf(oldest);
  const reason = `an erasure that began at ${erasure.beganAt} is not complete: repeat daywalk erase`;
  return { ...healthOf(oldest), healthy: false, reason };
}

const NEVER = 'no complete export of all expected streams is on record';

function healthOf({ healthy, reason, lastCompleteExportAt }: Health): Health {
  return { healthy, reason, lastCompleteExportAt };
}

type OwnQuestion = Pick<HealthQuestion, 'now' | 'maxAgeHours'> & { readonly runs: readonly RunRecord[] };

/** Assesses one organization; `isLate` if only a run in progress excuses it. */
async function assessOrganization(
  warehouse: Warehouse,
  orgId: string | null,
  { now, maxAgeHours, runs }: OwnQuestion,
): Promise<Health & { readonly isLate: boolean }> {
  const units = orgId === null ? [] : await readUnits(warehouse, orgId);
  const expectation = await readExpectation(warehouse, orgId ?? '', { units, now });
  const { contract, lastComplete, skippedDays } = expectation;
  const lastCompleteExportAt = lastComplete?.endedAt ?? null;
  const unwell = (reason: string, isLate = false) =>
    ({ healthy: false, isLate, reason, lastCompleteExportAt }) as const;
  const { exitCode } = lastDecided(runs, now) ?? {};
  if (needsPerson(exitCode)) return unwell(`the last run ended with exit code ${exitCode}`);
  if (lastComplete === null)
    return expectation.isLate ? unwell(NEVER, true) : { ...unwell(FIRST), healthy: true };
  const last = yesterdayOf(new Date(lastComplete.startedAt));
  const [silent] = silentStreams(units, { streams: dailyOf(contract), last });
  if (silent !== undefined) return unwell(silent);
  const hours = maxAgeHours ?? contract.maxAgeSeconds / 3_600;
  const isLate = now.getTime() - Date.parse(lastComplete.endedAt) > hours * HOUR_MS;
  const words = `the last complete export of all expected streams ended at ${lastComplete.endedAt.slice(0, 16)}Z`;
  if (isLate) return unwell(`${words}, more than ${Math.round(hours)} hours ago`, true);
  if (skippedDays > 0) return unwell(`${skippedDays} expected days were never pulled`, true);
  return { ...unwell(words), healthy: true };
}

const FIRST = `the first complete export may take ${FIRST_EXPORT_HOURS} hours`;

/** A sentence for each silent stream, see {@link SILENT_DAYS}. */
function silentStreams(
  units: readonly LedgerUnit[],
  { streams, last }: { readonly streams: readonly DailyStream[]; readonly last: UtcDay },
): string[] {
  const first = shiftDay(last, 1 - SILENT_DAYS);
  const before = shiftDay(first, -BEFORE_DAYS);
  return streams.flatMap((stream) => {
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
  const runs = await readRuns(warehouse, RUNS_MAX, { now });
  const begun = runs.some(
    ({ endedAt, startedAt }) => endedAt === null && now.getTime() - Date.parse(startedAt) < RUN_MS_MAX,
  );
  // If nobody can tell whether it is held, the recorded run decides.
  return begun && (await warehouse.isLocked());
}

/** Runs that are read: enough for several days, at the shortest gap of a schedule. */
export const RUNS_MAX = 100;

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
