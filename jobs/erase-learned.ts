import { BusyError, UsageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { sweepLearned } from '../src/erase/sweep-learned.ts';
import type { RunEvent } from '../src/pipeline/events.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { RunLock, Warehouse } from '../src/warehouse/port.ts';
import { erasureOptions } from './erase.ts';

/**
 * Sweeps the new addresses of erased people that a run has found, after the run. If that cannot be done now, the next run
 * does it; a warning says so.
 * @param lock the lock of the run, which is released
 */
export async function eraseLearned(
  { warehouse, lock }: { readonly warehouse: Warehouse; readonly lock: RunLock },
  settings: Settings,
  { clock, signal, observe }: JobContext<RunEvent>,
): Promise<void> {
  await lock.release();
  try {
    const exclusive = await warehouse.lock({ exclusive: true });
    try {
      await sweepLearned(await erasureOptions(warehouse, settings, { clock, signal }));
    } finally {
      await exclusive.release();
    }
  } catch (error) {
    if (!(error instanceof BusyError) && !(error instanceof UsageError)) throw error;
    const message = `a new address of an erased person is not swept yet: ${error.message}`;
    observe({ type: 'warning', message, hint: 'the next run tries again' });
  }
}
