import { setTimeout as delay } from 'node:timers/promises';

/** Time as the program sees it. Injected everywhere, so that tests and rehearsals choose it. */
export interface Clock {
  /** The wall-clock instant; decides which day is yesterday and what the ledger records. */
  now(): Date;
  /** Milliseconds that only grow; for durations, budgets and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A random number from 0 to below 1. Injected where tests must repeat it. */
export function systemRandom(): number {
  return Math.random();
}

/** The machine's clock. With `frozenAt`, `now()` always answers that instant while durations stay real. */
export function systemClock(frozenAt?: Date): Clock {
  return {
    now: () => new Date(frozenAt ?? Date.now()),
    monotonicMs: () => performance.now(),
    sleep: async (ms, signal) => {
      try {
        await delay(ms, undefined, signal ? { signal } : {});
      } catch (error) {
        throw signal?.aborted ? signal.reason : error;
      }
    },
  };
}
