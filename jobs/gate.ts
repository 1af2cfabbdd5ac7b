import { existsSync } from 'node:fs';
import { archiveBytes, keptOutOfArchive } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { type Advice, BusyError, DaywalkError, UsageError } from '../src/core/errors.ts';
import {
  dueSweeps,
  joinKeptOut,
  joinLists,
  noteErasures,
  readErasures,
  readKeptOut,
} from '../src/kept-out/index.ts';
import type { RunLock, Warehouse } from '../src/port/index.ts';
import { type KeptOut, NOBODY } from '../src/privacy/index.ts';
import { readArchives, readLearned } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { takeLock } from '../src/warehouse/index.ts';

type Observe = (event: { readonly type: 'warning'; readonly message: string } & Advice) => void;

/** Who was erased, as far as archives and the file of erasures know. */
export interface KeptOutSince {
  readonly list: KeptOut;
  /** The archives that are there: named, or remembered by the warehouse. */
  readonly archives: readonly string[];
  /** True if an archive or the file was read. */
  readonly isKnown: boolean;
}

/**
 * Reads everyone who was erased since a warehouse was written, which may be an older copy. A place that is named and not there is
 * reported as a warning.
 * @throws {StorageError} if one of the lists is damaged.
 */
export async function keptOutSince(
  { archives: named, erasures }: Pick<Settings, 'archives' | 'erasures'>,
  warehouse: Pick<Warehouse, 'read'>,
  observe: Observe,
): Promise<KeptOutSince> {
  const isThere = (archive: string) => archiveBytes(archive) > 0;
  const archives = [...new Set([...named, ...(await readArchives(warehouse))])].filter(isThere);
  let list: KeptOut = NOBODY;
  for (const archive of archives) list = joinLists(list, await keptOutOfArchive(archive));
  const hasFile = erasures !== null && existsSync(erasures);
  if (hasFile) list = joinLists(list, readErasures(erasures));
  const missing = [
    ...named.filter((archive) => !isThere(archive)).map((archive) => `the archive ${archive}`),
    ...(erasures !== null && !hasFile ? [`the list of erasures ${erasures}`] : []),
  ];
  for (const place of missing)
    observe({ type: 'warning', message: `${place} is not there`, hint: undefined });
  return { list, archives, isKnown: archives.length > 0 || hasFile };
}

/**
 * Gives a warehouse those whom only the file of erasures knows: it may be an older copy. Rows that it has of them are due to be swept.
 * @returns the lists of both as they were.
 * @throws {StorageError} if the file is damaged.
 */
export async function informGate(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  { erasures }: Pick<Settings, 'erasures'>,
): Promise<Readonly<Record<'own' | 'kept', KeptOut>>> {
  const own = await readKeptOut(warehouse);
  const kept = erasures !== null && existsSync(erasures) ? readErasures(erasures) : NOBODY;
  if (joinLists(own, kept).entries.length > own.entries.length) await joinKeptOut(warehouse, kept, new Set());
  return { own, kept };
}

/**
 * Gives a warehouse and the file of erasures the erased of both, and creates the file if it is not there. Rows that the warehouse
 * has of them are due to be swept. A file that cannot be written now is reported as a warning: the next call adds to it.
 * @throws {StorageError} if the file is damaged.
 */
export async function shareGate(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  { erasures }: Pick<Settings, 'erasures'>,
  observe: Observe,
): Promise<void> {
  if (erasures === null) return;
  const hasFile = existsSync(erasures);
  const { own, kept } = await informGate(warehouse, { erasures });
  const all = joinLists(own, kept);
  if (hasFile && all.entries.length === kept.entries.length) return;
  if (!hasFile) {
    const message = `the list of erasures ${erasures} is not there: a new one begins`;
    observe({ type: 'warning', message, hint: 'if there was one, put it back and repeat the command' });
  }
  try {
    noteErasures(erasures, all);
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    const message = `add to the list of erasures: ${error.message}`;
    observe({ type: 'warning', message, hint: 'the next run tries again' });
  }
}

/** A warehouse and the lock of a run. */
interface Held {
  readonly warehouse: Warehouse;
  readonly lock: RunLock;
}

/**
 * Shares the lists, and sweeps whom an archive or the file knows and the warehouse did not, or the other way round.
 * @returns the lock of the run; an exclusive one takes its place meanwhile
 */
export async function sweepBeforeRun(
  { warehouse, lock }: Held,
  settings: Settings,
  { observe, ...locking }: Parameters<typeof takeLock>[1] & { readonly observe: Observe },
): Promise<RunLock> {
  await shareGate(warehouse, settings, observe);
  if ((await dueSweeps(warehouse)).length === 0) return lock;
  await lock.release();
  const exclusive = await takeLock(warehouse, { ...locking, exclusive: true });
  try {
    await sweepNow(warehouse, settings, locking, settings.archives);
  } finally {
    await exclusive.release();
  }
  return takeLock(warehouse, locking);
}

/**
 * Sweeps the new addresses of erased people that a run has found, after the run. If that cannot be done now, the next run does it; a
 * warning says so.
 * @param held its lock is released if there is something to sweep
 * @returns true if nothing is left
 */
export async function sweepAfterRun(
  { warehouse, lock }: Held,
  settings: Settings,
  { observe, ...place }: Pick<JobContext, 'clock' | 'signal'> & { readonly observe: Observe },
): Promise<boolean> {
  if ((await readLearned(warehouse)).length === 0) return true;
  await lock.release();
  try {
    const exclusive = await warehouse.lock({ exclusive: true });
    try {
      await sweepNow(warehouse, settings, place);
    } finally {
      await exclusive.release();
    }
  } catch (error) {
    if (!(error instanceof BusyError) && !(error instanceof UsageError)) throw error;
    const message = `a new address of an erased person is not swept yet: ${error.message}`;
    observe({ type: 'warning', message, hint: 'the next run tries again' });
  }
  return (await readLearned(warehouse)).length === 0;
}

/** Loads what few runs need. */
async function sweepNow(
  ...[warehouse, settings, place, archives]: Parameters<typeof import('./erase.ts').sweepOptions>
) {
  const { sweepOptions } = await import('./erase.ts');
  const { sweepLearned } = await import('../src/erase/erase.ts');
  await sweepLearned(await sweepOptions(warehouse, settings, place, archives));
}
