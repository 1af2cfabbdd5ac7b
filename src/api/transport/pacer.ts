import pLimit from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import { RequestsSpentError } from '../../core/errors.ts';
import { requestBudget } from './budget.ts';
import { nextPace, openPace, type PaceEvent, type Sent, untilNextMs } from './pace.ts';

/** Options of {@link createPacer}. */
export interface PacerOptions {
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** Maximum number of requests that begin in any 60 seconds; null for no limit. */
  readonly maxRequestsPerMinute: number | null;
  /** Maximum number of all requests. @default null, no limit */
  readonly maxRequests?: number | null;
  readonly clock: Clock;
  /** The pause after a failed request; undefined if the failure says nothing about the pace. */
  readonly pauseOf: (error: unknown) => Pause | undefined;
}

/** A refusal: the service gets too many requests, or is overloaded. */
export interface Pause {
  /** The pause that the service asks for, in milliseconds; 0 if it names none. */
  readonly pauseMs: number;
  /** `limit`: the service counts requests, so a lower rate helps. `overload`: the cause is unknown. */
  readonly cause: 'limit' | 'overload';
}

/** Lets requests begin at the pace that the service allows. */
export interface Pacer {
  /** Runs `send` in its turn and returns its result. The outcome changes the pace of later requests. */
  run<Result>(send: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** Waits for the turn of one more request within `run`, such as that of a redirect. */
  turn(signal: AbortSignal): Promise<void>;
  /** Requests that may be in flight now. */
  readonly concurrency: number;
}

/**
 * Drives the pace machine of `pace.ts` with a clock and a queue.
 *
 * @example
 * const pacer = createPacer({ concurrency: 8, maxRequestsPerMinute: null, clock, pauseOf });
 * const response = await pacer.run(() => send(request), signal);
 */
export function createPacer(options: PacerOptions): Pacer {
  const { concurrency, maxRequestsPerMinute, clock, pauseOf } = options;
  const limit = pLimit(concurrency);
  const budget = maxRequestsPerMinute === null ? undefined : requestBudget(maxRequestsPerMinute, clock);
  let left = options.maxRequests ?? Number.POSITIVE_INFINITY;
  let inFlight = 0;
  let pace = openPace(concurrency);

  function apply(event: PaceEvent): void {
    pace = nextPace(pace, event);
    if (limit.concurrency !== pace.flight.limit) limit.concurrency = pace.flight.limit;
  }

  async function turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    // Checked again after each wait: the service may have asked for a pause, or another request may have begun.
    for (let waitMs = untilTurnMs(); waitMs > 0; waitMs = untilTurnMs()) await clock.sleep(waitMs, signal);
    if (left <= 0) throw new RequestsSpentError(options.maxRequests ?? 0);
    left -= 1;
    budget?.spend();
    apply({ type: 'sent', atMs: clock.monotonicMs() });
  }

  function untilTurnMs(): number {
    // A request beyond the maximum fails without a wait.
    if (left <= 0) return 0;
    return Math.max(budget?.waitMs() ?? 0, untilNextMs(pace, clock.monotonicMs()));
  }

  async function sendInTurn<Result>(send: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    await turn(signal);
    inFlight += 1;
    const request: Sent = { epoch: pace.epoch, inFlight };
    try {
      const result = await send();
      apply({ type: 'answered', atMs: clock.monotonicMs(), request });
      return result;
    } catch (error) {
      const pause = pauseOf(error);
      const event: PaceEvent =
        pause === undefined
          ? { type: 'failed', request }
          : { type: 'refused', atMs: clock.monotonicMs(), request, inFlight, ...pause };
      apply(event);
      throw error;
    } finally {
      inFlight -= 1;
    }
  }

  return {
    // The pace changes inside the limit, before the next request in line can begin.
    run: (send, signal) => limit(() => sendInTurn(send, signal)),
    turn,
    get concurrency() {
      return limit.concurrency;
    },
  };
}
