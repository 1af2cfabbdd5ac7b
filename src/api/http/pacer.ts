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
  /**
   * Milliseconds of pause that a failure asks for, 0 where it names none, when it means that there were too many
   * requests or that the service is overloaded; undefined for any other failure.
   */
  readonly pauseOf: (error: unknown) => number | undefined;
}

/** Lets requests through at the pace that the service bears. */
export interface Pacer {
  /** Runs `send` when it is its turn; its result is the call's, and sets the pace of those that follow. */
  run<Result>(send: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** Waits until one more request may begin within a call that `run` let through, such as a redirect's. */
  turn(signal: AbortSignal): Promise<void>;
  /** Requests that may be in flight now. */
  readonly concurrency: number;
}

/** Answers in a row, per request in flight, after which one more is tried. */
const RECOVERY_ROUNDS = 4;

/**
 * A pacer that halves the requests in flight when the service refuses one, and tries one more again after a series of
 * answers. A pause that the service asks for holds every request back, since limits are per organization.
 */
export function createPacer({ concurrency, maxRequestsPerMinute, clock, pauseOf }: PacerOptions): Pacer {
  const limit = pLimit(concurrency);
  const budget = maxRequestsPerMinute === null ? undefined : requestBudget(maxRequestsPerMinute, clock);
  let pausedUntilMs = 0;
  let answersInRow = 0;
  // How often the pace was lowered. A request that began before says nothing about the pace since.
  let lowered = 0;

  async function turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    // Looked at again after each wait: a pause may have been asked for meanwhile, or another took the turn.
    for (let waitMs = untilTurnMs(); waitMs > 0; waitMs = untilTurnMs()) await clock.sleep(waitMs, signal);
    budget?.spend();
  }

  function untilTurnMs(): number {
    return Math.max(pausedUntilMs - clock.monotonicMs(), budget?.waitMs() ?? 0);
  }

  function refused(pauseMs: number, begunAt: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, clock.monotonicMs() + pauseMs);
    answersInRow = 0;
    if (begunAt < lowered) return;
    lowered += 1;
    limit.concurrency = Math.max(1, Math.floor(limit.concurrency / 2));
  }

  function accepted(begunAt: number): void {
    if (begunAt < lowered) return;
    answersInRow += 1;
    if (answersInRow < limit.concurrency * RECOVERY_ROUNDS || limit.concurrency >= concurrency) return;
    limit.concurrency += 1;
    answersInRow = 0;
  }

  return {
    // The result is looked at inside the limit, before the next request in line can begin.
    run: (send, signal) =>
      limit(async () => {
        await turn(signal);
        const begunAt = lowered;
        try {
          const result = await send();
          accepted(begunAt);
          return result;
        } catch (error) {
          const pauseMs = pauseOf(error);
          if (pauseMs !== undefined) refused(pauseMs, begunAt);
          throw error;
        }
      }),
    turn,
    get concurrency() {
      return limit.concurrency;
    },
  };
}
