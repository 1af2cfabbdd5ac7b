import type { Clock } from '../core/clock.ts';
import { BusyError } from '../core/errors.ts';
import { type OpenOptions, openWarehouse } from './open.ts';
import type { LockOptions, RunLock, Warehouse } from './port.ts';

/** How long a run waits for another one; longer than any run takes. */
const LOCK_WAIT_MS = 24 * 60 * 60 * 1000;

/** How often a run that waits for another one looks whether it has ended. */
const LOCK_PAUSE_MS = 500;

/** Opens a warehouse, hands it to `use`, and closes it whatever happens. */
export async function withWarehouse<Result>(
  location: string,
  options: OpenOptions,
  use: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const warehouse = await openWarehouse(location, options);
  try {
    return await use(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** How a lock is waited for. */
export interface LockWait extends LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly wait: boolean;
  /** Told once what is waited for, and how long at most. */
  readonly warn?: ((message: string, hint: string) => void) | undefined;
}

/**
 * Takes the run lock, waiting for another run to end where that is asked for.
 * @throws {BusyError} when another run holds the warehouse and `wait` is false.
 */
export async function takeLock(
  warehouse: Warehouse,
  { clock, signal, wait, warn, exclusive = false }: LockWait,
): Promise<RunLock> {
  const since = clock.monotonicMs();
  for (let tries = 1; ; tries += 1) {
    try {
      return await warehouse.lock({ exclusive });
    } catch (error) {
      const patient = wait && clock.monotonicMs() - since < LOCK_WAIT_MS;
      if (!patient || !(error instanceof BusyError)) throw error;
      if (tries === 1) warn?.(error.message, 'waiting for it to end, 24 hours at most');
    }
    await clock.sleep(LOCK_PAUSE_MS, signal);
  }
}
