import pLimit from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import { requestBudget } from './budget.ts';

/** What a pacer needs to know. */
export interface PacerOptions {
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** Requests in any 60 seconds at most; null without a limit. */
  readonly maxRequestsPerMinute: number | null;
  readonly clock: Clock;
}

/** Lets requests through at the pace that the service bears. */
export interface Pacer {
  /** Runs `send` when it is its turn; its result is the call's. */
  run<Result>(send: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** Waits until one more request may begin within a call that `run` let through, such as a redirect's. */
  turn(signal: AbortSignal): Promise<void>;
  /** The service refused a request as too many, or as overloaded; it asked for a pause of `pauseMs`, if any. */
  refused(pauseMs: number): void;
  /** The service answered a request. */
  accepted(): void;
  /** Requests that may be in flight now. */
  readonly concurrency: number;
}

/** Answers in a row, per request in flight, after which one more is tried. */
const RECOVERY_ROUNDS = 4;

/**
 * A pacer that halves the requests in flight when the service refuses one, and tries one more again after a series of
 * answers. A pause that the service asks for holds every request back, since limits are per organization.
 */
export function createPacer({ concurrency, maxRequestsPerMinute, clock }: PacerOptions): Pacer {
  const limit = pLimit(concurrency);
  const budget = maxRequestsPerMinute === null ? undefined : requestBudget(maxRequestsPerMinute, clock);
  let pausedUntilMs = 0;
  let answersInRow = 0;
  // Requests that were in flight when the pace was lowered say nothing about the new pace.
  let strangers = 0;

  async function turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (
      let waitMs = pausedUntilMs - clock.monotonicMs();
      waitMs > 0;
      waitMs = pausedUntilMs - clock.monotonicMs()
    ) {
      await clock.sleep(waitMs, signal);
    }
    await budget?.(signal);
  }

  return {
    run: (send, signal) =>
      limit(async () => {
        await turn(signal);
        return send();
      }),
    turn,
    refused: (pauseMs) => {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonicMs() + pauseMs);
      answersInRow = 0;
      if (strangers > 0) {
        strangers -= 1;
        return;
      }
      strangers = limit.activeCount - 1;
      limit.concurrency = Math.max(1, Math.floor(limit.concurrency / 2));
    },
    accepted: () => {
      if (strangers > 0) strangers -= 1;
      answersInRow += 1;
      if (answersInRow >= limit.concurrency * RECOVERY_ROUNDS && limit.concurrency < concurrency) {
        limit.concurrency += 1;
        answersInRow = 0;
      }
    },
    get concurrency() {
      return limit.concurrency;
    },
  };
}
