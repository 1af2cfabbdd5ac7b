import { forgetSwept, type Pruned, pruneArchive } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { dayOf, type UtcDay } from '../src/core/day.ts';
import { type Advice, adviceOf, BusyError, DaywalkError, messageOf } from '../src/core/errors.ts';
import { openGate, readGate } from '../src/policy/index.ts';
import type { RunLock, Warehouse } from '../src/port/index.ts';
import { type RenewedLakes, renewLakes } from '../src/publish/index.ts';
import {
  countEventsBefore,
  readPublished,
  readState,
  removeEventsBefore,
  STATES,
  writeState,
} from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import {
  countOldRecords,
  type ExpiryOptions,
  expireArchived,
  expirePeople,
  refreshExpired,
  withholdRecords,
} from '../src/sweep/index.ts';
import { readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';
import { beginOf, keepsLess, keptUsersFrom, type RetentionSettings, retentionTime } from './archive.ts';

/** What is older than it is to be kept, and was removed or would be. */
export interface RetentionReport {
  readonly isDryRun: boolean;
  /** People; null if they are kept for ever. */
  readonly users: Awaited<ReturnType<typeof expirePeople>>;
  /** Hook events; null if they are kept for ever. */
  readonly events: Removed | null;
  /** Records in quarantine that lose their text; null if they keep it for ever. */
  readonly quarantine: Removed | null;
  /** The archive; null if it is kept for ever, or if there is none. */
  readonly archive: Pruned | null;
  /** The lakes of Delta tables, which had such events or people; null if none is noted, or nothing of them was removed. */
  readonly lakes: RenewedLakes | null;
  /** The files were written again without what was removed. */
  readonly isCompacted: boolean;
}

interface Removed {
  /** An ISO instant. */
  readonly before: string;
  readonly removed: number;
}

type Place = Pick<JobContext, 'clock' | 'signal'>;
type Asked = RetentionSettings & Pick<Settings, 'warehouse' | 'archives' | 'emails'>;

/** A warehouse, and the lock of the run or command; without a lock, everything is only counted. */
interface Held {
  readonly warehouse: Warehouse;
  readonly lock: RunLock | null;
}

/**
 * Removes what is older than it is to be kept. A run does the same.
 * @param compact write the files again, so that they hold no byte of what was removed
 * @throws {BusyError} while a run holds the warehouse, or another process removes answers; a repetition resumes.
 */
export async function applyRetention(
  settings: Settings,
  { isDryRun, compact, wait }: Readonly<Record<'isDryRun' | 'compact' | 'wait', boolean>>,
  { clock, signal, upgraded }: Pick<JobContext, 'clock' | 'signal' | 'upgraded'>,
): Promise<RetentionReport> {
  const { warehouse: location } = settings;
  const place = { clock, signal };
  if (isDryRun)
    return readWarehouse(location, place, (warehouse) => retain({ warehouse, lock: null }, settings, place));
  return withWarehouse(location, { ...place, upgraded, create: false }, async (warehouse) => {
    const lock = await takeLock(warehouse, { ...place, wait, exclusive: compact });
    try {
      const removed = await retain({ warehouse, lock }, settings, place);
      if (compact) {
        await warehouse.forgetDeleted();
        for (const archive of settings.archives) await forgetSwept(archive, place);
      }
      const isDue = isInLakes(removed) || (await areLakesDue(warehouse));
      const lakes = isDue ? await renewNoted(warehouse, settings, place) : null;
      return { ...removed, lakes, isCompacted: compact };
    } finally {
      await lock.release();
    }
  });
}

/**
 * Removes what is older than it is to be kept as a side task of a run: what is busy is left to the next one. A lake that cannot be
 * written keeps earlier versions until they are too old.
 * @param daysBefore what {@link expireBeforeRun} has returned in this run
 */
export function retainDuringRun(
  held: Held,
  settings: Asked,
  daysBefore: number,
  context: JobContext<{ readonly type: 'warning'; readonly message: string } & Advice>,
): Promise<void> {
  return unlessBusy(context, async () => {
    const { now, newest } = await retentionTime(held.warehouse, context.clock);
    // The run has said so of people before it pulled.
    if (now < context.clock.now() && settings.retainUsers === null && keepsLess(settings))
      context.observe({
        type: 'warning',
        message: `what is to be kept for a limited time is kept as of ${dayOf(now)}, because no day after ${newest} has come`,
        hint: 'set the clock of this machine; if it is right and no more days will come, run daywalk retention',
      });
    const removed = await retain(held, settings, context, now);
    if (daysBefore > 0 || isInLakes(removed) || (await areLakesDue(held.warehouse)))
      await renewDuringRun(held.warehouse, settings, context);
  });
}

/**
 * Removes the people of days that have expired from a warehouse, before a run plans.
 * @returns of how many days
 */
export async function expireBeforeRun(
  held: Held,
  settings: Asked,
  usersFrom: UtcDay,
  context: JobContext<{ readonly type: 'warning'; readonly message: string } & Advice>,
): Promise<number> {
  let days = 0;
  await unlessBusy(context, async () => {
    const expired = await expirePeople(await expiryIn(held, settings, context, usersFrom));
    days = expired?.days ?? 0;
  });
  return days;
}

async function unlessBusy(
  { observe }: JobContext<{ readonly type: 'warning'; readonly message: string } & Advice>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    const message = `what is older than it is to be kept stays until the next run: ${messageOf(error)}`;
    observe({ type: 'warning', message, ...adviceOf(error) });
  }
}

async function renewDuringRun(
  warehouse: Warehouse,
  settings: Asked,
  { observe, clock, signal }: Parameters<typeof retainDuringRun>[3],
): Promise<void> {
  try {
    const lakes = await renewNoted(warehouse, settings, { clock, signal });
    for (const message of goneLakes(lakes)) observe({ type: 'warning', message, hint: undefined });
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    const message = `earlier versions of a lake keep what is older than it is to be kept: ${messageOf(error)}`;
    observe({ type: 'warning', message, ...adviceOf(error) });
  }
}

/** True if lakes may hold something of what was removed. */
function isInLakes({ users, events }: RetentionReport): boolean {
  return (users?.days ?? 0) + (events?.removed ?? 0) > 0;
}

/** Noted before anything is removed that lakes may hold, until it is out of them: after a kill, the next run finds nothing to remove. */
const LAKES_DUE = ['', STATES.lakesDue] as const;

async function noteLakesDue(warehouse: Warehouse, { warehouse: location }: Asked): Promise<void> {
  if ((await readPublished(location, warehouse)).length > 0)
    await writeState(warehouse, ...LAKES_DUE, 'true');
}

async function areLakesDue(warehouse: Warehouse): Promise<boolean> {
  return (await readState(warehouse, ...LAKES_DUE)) === 'true';
}

/** Takes what was removed out of the lakes of Delta tables, too. */
async function renewNoted(
  warehouse: Warehouse,
  { warehouse: location }: Asked,
  place: Place,
): Promise<RenewedLakes | null> {
  const lakes = await renewLakes({ warehouse, ...place }, await readPublished(location, warehouse));
  if (await areLakesDue(warehouse)) await writeState(warehouse, ...LAKES_DUE, 'false');
  return lakes.renewed.length + lakes.gone.length === 0 ? null : lakes;
}

/** Names the lakes that are not where they were. */
export function goneLakes(lakes: RenewedLakes | null): string[] {
  return (lakes?.gone ?? []).map((place) => `not there, and not changed: the lake with ${place}`);
}

async function retain(
  held: Held,
  settings: Asked,
  { clock, signal }: Place,
  now = clock.now(),
): Promise<RetentionReport> {
  const { warehouse, lock } = held;
  const { retainEvents, retainQuarantine } = settings;
  const isDryRun = lock === null;
  const place = { clock, signal };
  const removedBefore = async (
    limit: Settings['retainEvents'],
    count: (before: Date) => Promise<number>,
    remove: (before: Date) => Promise<number>,
  ): Promise<Removed | null> => {
    if (limit === null) return null;
    const before = beginOf(limit, now);
    return { before: before.toISOString(), removed: await (isDryRun ? count : remove)(before) };
  };
  return {
    ...{ isDryRun, isCompacted: false, lakes: null },
    users: await expire(held, settings, place, keptUsersFrom(settings, { now: () => now })),
    events: await removedBefore(
      retainEvents,
      (before) => countEventsBefore(warehouse, before),
      async (before) => {
        if ((await countEventsBefore(warehouse, before)) > 0) await noteLakesDue(warehouse, settings);
        return removeEventsBefore(warehouse, before, signal);
      },
    ),
    quarantine: await removedBefore(
      retainQuarantine,
      (before) => countOldRecords(warehouse, before),
      (before) => withholdRecords(warehouse, before, signal),
    ),
    archive: await prune(settings, place, { isDryRun, now }),
  };
}

/** Removes the people of days that have expired from a warehouse that was filled from elsewhere. */
export async function expireAfter(held: Held, settings: Asked, place: Place): Promise<void> {
  const options = await expiryIn(held, settings, place, keptUsersFrom(settings, place.clock));
  if ((await expirePeople(options)) !== null) await refreshExpired(options);
}

/** Removes the people of days that have expired from the warehouse, its rollups and its archives. */
async function expire(
  held: Held,
  settings: Asked,
  place: Place,
  usersFrom: UtcDay | null,
): ReturnType<typeof expirePeople> {
  const options = await expiryIn(held, settings, place, usersFrom);
  const expired = await expirePeople(options);
  if (expired === null) return null;
  if (held.lock !== null) await refreshExpired(options);
  let answers = 0;
  for (const archive of settings.archives) answers += await expireArchived(archive, options);
  return { ...expired, answers };
}

/** Without a lock, the gate is opened without a trace. */
async function expiryIn(
  held: Held,
  settings: Asked,
  { clock, signal }: Place,
  usersFrom: UtcDay | null,
): Promise<ExpiryOptions> {
  const { warehouse, lock } = held;
  const gate = await (lock === null ? readGate : openGate)(warehouse, settings.emails, { usersFrom });
  return { warehouse, lock, gate, clock, signal, begin: () => noteLakesDue(warehouse, settings) };
}

async function prune(
  { retainArchive, archives }: Pick<Settings, 'retainArchive' | 'archives'>,
  { clock, signal }: Place,
  { isDryRun, now }: { readonly isDryRun: boolean; readonly now: Date },
): Promise<Pruned | null> {
  const [archive] = archives;
  if (retainArchive === null || archive === undefined) return null;
  return pruneArchive(archive, { before: beginOf(retainArchive, now), isDryRun, clock, signal });
}
