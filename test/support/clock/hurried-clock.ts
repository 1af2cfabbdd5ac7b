import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../../../src/core/clock.ts';

/** How much faster than real the waits between attempts are; time-outs of requests are real. */
const HURRY = 40;

/** A clock that stands at an instant, and whose durations and waits pass `hurry` times faster than real ones. */
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
