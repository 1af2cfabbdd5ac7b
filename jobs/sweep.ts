import { dueSweeps } from '../src/kept-out/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { type Advice, BusyError, UsageError } from '../src/core/errors.ts';
import type { RunLock, Warehouse } from '../src/port/index.ts';
import { readLearned } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { takeLock } from '../src/warehouse/index.ts';
import { shareGate } from './gate.ts';

type Observe = (event: { readonly type: 'warning'; readonly message: string } & Advice) => void;

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
