import type { Clock } from '../../core/clock.ts';

const WINDOW_MS = 60_000;

/** A hard budget of requests. */
export interface RequestBudget {
  /** Milliseconds until one more request may begin; 0 when it may now. */
  waitMs(): number;
  /** Records that a request begins now. */
  spend(): void;
}

/**
 * A budget: at most `perMinute` requests begin in any 60 seconds. It counts when requests really begin, not when they
 * were scheduled, so a late timer does not let more through afterwards.
 */
export function requestBudget(perMinute: number, clock: Clock): RequestBudget {
  // The instants of the last `perMinute` requests, oldest first from `next` on.
  const begun = new Float64Array(perMinute).fill(Number.NEGATIVE_INFINITY);
  let next = 0;
  return {
    waitMs: () => Math.max(0, (begun[next] ?? 0) + WINDOW_MS - clock.monotonicMs()),
    spend: () => {
      begun[next] = clock.monotonicMs();
      next = (next + 1) % perMinute;
    },
  };
}
