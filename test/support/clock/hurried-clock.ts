import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../../../src/core/clock.ts';

/** Speed-up of the waits between attempts; request time-outs use real time. */
const HURRY = 40;

/** Creates a clock that always shows the same instant. Its durations and waits pass `hurry` times faster. */
export function hurriedClock(instant: string, hurry = HURRY): Clock {
  return {
    ...systemClock(new Date(instant)),
    monotonicMs: () => performance.now() * hurry,
    sleep: (ms, signal) =>
      delay(ms / hurry, undefined, signal ? { signal } : {}).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      }),
  };
}
