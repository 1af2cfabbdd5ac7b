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
      retain(warehouse, settings, { clock, signal }, true),
    );
  return withWarehouse(location, { clock, signal, upgraded, create: false }, async (warehouse) => {
    const lock = await takeLock(warehouse, { clock, signal, wait, exclusive: compact });
    try {
      const removed = await retain(warehouse, settings, { clock, signal }, false);
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
    await retain(warehouse, settings, { clock, signal }, false);
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    const message = `what is older than it is to be kept stays until the next run: ${messageOf(error)}`;
    observe({ type: 'warning', message, ...adviceOf(error) });
  }
}

type Place = Pick<JobContext, 'clock' | 'signal'>;

async function retain(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  { retainEvents, ...settings }: RetentionSettings,
  { clock, signal }: Place,
  isDryRun: boolean,
): Promise<RetentionReport> {
  const eventsBefore = async (before: Date) => ({
    before: before.toISOString(),
    removed: isDryRun
      ? await countEventsBefore(warehouse, before)
      : await removeEventsBefore(warehouse, before, signal),
  });
  return {
    ...{ isDryRun, isCompacted: false },
    events: retainEvents === null ? null : await eventsBefore(beginOf(retainEvents, clock.now())),
    archive: await prune(settings, { clock, signal }, isDryRun),
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
