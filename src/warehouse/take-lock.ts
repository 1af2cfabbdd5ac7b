import type { Clock } from '../core/clock.ts';
import { BusyError } from '../core/errors.ts';
import type { LockOptions, RunLock, Warehouse } from './port.ts';

/** The longest wait for another run; longer than any run takes. */
const WAIT_MS_MAX = 24 * 60 * 60 * 1000;
/** The pause between two attempts. */
const PAUSE_MS = 500;

export interface LockWait extends LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Wait for another run to end instead of failing. */
  readonly wait: boolean;
  /** Called once, before the wait begins. */
  readonly warn?: ((message: string, hint: string) => void) | undefined;
}

/**
 * Takes the run lock of a warehouse.
 * @throws {BusyError} when another run holds it and `wait` is false, or still holds it after 24 hours.
 */
export async function takeLock(
  warehouse: Warehouse,
  { clock, signal, wait, warn, exclusive = false }: LockWait,
): Promise<RunLock> {
  const since = clock.monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await warehouse.lock({ exclusive });
    } catch (error) {
      const mayWait = wait && clock.monotonicMs() - since < WAIT_MS_MAX;
      if (!mayWait || !(error instanceof BusyError)) throw error;
      if (attempt === 1) warn?.(error.message, 'waiting for it to end, 24 hours at most');
    }
    await clock.sleep(PAUSE_MS, signal);
  }
}
