import type { Clock } from '../../core/clock.ts';

const WINDOW_MS = 60_000;

/**
 * A hard budget of requests: at most `perMinute` begin in any 60 seconds. Waits for its turn; never refuses.
 * @returns a function to await before each request; it rejects with the signal's reason when that aborts.
 */
export function requestBudget(perMinute: number, clock: Clock): (signal: AbortSignal) => Promise<void> {
  // The instants of the last `perMinute` requests, oldest first from `next` on.
  const begun = new Float64Array(perMinute).fill(Number.NEGATIVE_INFINITY);
  let next = 0;
  return async (signal) => {
    const turn = Math.max(clock.monotonicMs(), (begun[next] ?? 0) + WINDOW_MS);
    begun[next] = turn;
    next = (next + 1) % perMinute;
    const waitMs = turn - clock.monotonicMs();
    if (waitMs > 0) await clock.sleep(waitMs, signal);
  };
}
