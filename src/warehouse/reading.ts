import { BusyError } from '../core/errors.ts';
import type { Warehouse } from '../port/index.ts';

/** The methods of a warehouse that is open for reading only. Who calls them has opened it in the wrong way. */
export function refusedWrites(
  location: string,
): Pick<
  Warehouse,
  'lock' | 'commitDays' | 'transact' | 'oneAtATime' | 'forgetDeleted' | 'refreshStatistics' | 'discardNew'
> {
  const refuse = async () => {
    throw new TypeError(`the warehouse ${location} is open for reading only`);
  };
  return {
    lock: refuse,
    commitDays: refuse,
    transact: refuse,
    oneAtATime: refuse,
    forgetDeleted: refuse,
    refreshStatistics: refuse,
    discardNew: refuse,
  };
}

/**
 * A standby has cancelled a read, because it had to apply a change to what the read was using. Exit code 75; a repetition may
 * succeed.
 */
export class CancelledReadError extends BusyError {
  // For users something is in the way.
  override readonly name = 'BusyError';
}

/** Repeats a read once that a standby has cancelled. */
export async function onceMoreIfCancelled<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CancelledReadError) return read();
    throw error;
  }
}
