import { type Pruned, pruneArchive } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { type Advice, adviceOf, BusyError, messageOf } from '../src/core/errors.ts';
import type { Warehouse } from '../src/port/index.ts';
import { countEventsBefore, removeEventsBefore } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';
import { beginOf } from './archive.ts';

/** What is older than it is to be kept, and was removed or would be. */
export interface RetentionReport {
  readonly isDryRun: boolean;
  /** Hook events; null if they are kept for ever. */
  readonly events: { readonly before: string; readonly removed: number } | null;
  /** The archive; null if it is kept for ever, or if there is none. */
  readonly archive: Pruned | null;
  /** The files were written again without what was removed. */
  readonly isCompacted: boolean;
}

type RetentionSettings = Pick<Settings, 'retainEvents' | 'retainArchive' | 'archives'>;

/**
 * Removes what is older than it is to be kept. A run does the same at its end.
 * @param compact write the file again, so that it holds no byte of what was removed
 * @throws {BusyError} while a run holds the warehouse, or another process removes answers; a repetition resumes.
 */
export async function applyRetention(
  settings: Settings,
  {
    isDryRun,
    compact,
    wait,
  }: { readonly isDryRun: boolean; readonly compact: boolean; readonly wait: boolean },
  { clock, signal, upgraded }: Pick<JobContext, 'clock' | 'signal' | 'upgraded'>,
): Promise<RetentionReport> {
  const { warehouse: location } = settings;
  if (isDryRun)
    return readWarehouse(location, { clock, signal }, (warehouse) =>
      count(warehouse, settings, { clock, signal }),
    );
  return withWarehouse(location, { clock, signal, upgraded, create: false }, async (warehouse) => {
    const lock = await takeLock(warehouse, { clock, signal, wait, exclusive: compact });
    try {
      const removed = await remove(warehouse, settings, { clock, signal });
      if (compact) await warehouse.forgetDeleted();
      return { ...removed, isCompacted: compact };
    } finally {
      await lock.release();
    }
  });
}

/** Removes what is older than it is to be kept as a side task of a run: a busy archive is thinned out by the next one. */
export async function retainDuringRun(
  warehouse: Warehouse,
  settings: RetentionSettings,
  { clock, signal, observe }: JobContext<{ readonly type: 'warning'; readonly message: string } & Advice>,
): Promise<void> {
  try {
    await remove(warehouse, settings, { clock, signal });
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    const message = `what is older than it is to be kept stays until the next run: ${messageOf(error)}`;
    observe({ type: 'warning', message, ...adviceOf(error) });
  }
}

type Place = Pick<JobContext, 'clock' | 'signal'>;

async function count(
  warehouse: Pick<Warehouse, 'select'>,
  { retainEvents, ...settings }: RetentionSettings,
  place: Place,
): Promise<RetentionReport> {
  const before = retainEvents === null ? null : beginOf(retainEvents, place.clock.now());
  return {
    ...{ isDryRun: true, isCompacted: false },
    events:
      before === null
        ? null
        : { before: before.toISOString(), removed: await countEventsBefore(warehouse, before) },
    archive: await prune(settings, place, true),
  };
}

async function remove(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  { retainEvents, ...settings }: RetentionSettings,
  place: Place,
): Promise<RetentionReport> {
  const before = retainEvents === null ? null : beginOf(retainEvents, place.clock.now());
  return {
    ...{ isDryRun: false, isCompacted: false },
    events:
      before === null
        ? null
        : {
            before: before.toISOString(),
            removed: await removeEventsBefore(warehouse, before, place.signal),
          },
    archive: await prune(settings, place, false),
  };
}

async function prune(
  { retainArchive, archives }: Pick<Settings, 'retainArchive' | 'archives'>,
  { clock, signal }: Place,
  isDryRun: boolean,
): Promise<Pruned | null> {
  const [archive] = archives;
  if (retainArchive === null || archive === undefined) return null;
  return pruneArchive(archive, { before: beginOf(retainArchive, clock.now()), isDryRun, clock, signal });
}
