import pLimit from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import { RequestsSpentError } from '../../core/errors.ts';
import { requestBudget } from './budget.ts';
import { flightLimit } from './flight-limit.ts';
import { learnedRate } from './learned-rate.ts';

/** What a pacer needs to know. */
export interface PacerOptions {
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** Requests in any 60 seconds at most; null without a limit. */
  readonly maxRequestsPerMinute: number | null;
  /** Requests at most, all in all; null or absent without a limit. */
  readonly maxRequests?: number | null;
  readonly clock: Clock;
  /** What a failure says of the pace; undefined where it says nothing. */
  readonly pauseOf: (error: unknown) => Pause | undefined;
}

/** A failure that means too many requests, or that the service is overloaded. */
export interface Pause {
  /** Milliseconds of pause that it asks for, 0 where it names none. */
  readonly pauseMs: number;
  /** True where requests are counted, so that a lower rate helps; an overload may have any reason. */
  readonly isLimit: boolean;
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

/** The pause after refusals in a row for which the service names none and nothing else accounts. */
const PAUSE_MS = { first: 250, max: 8_000 } as const;

/**
 * A pacer that finds the pace of the service by what it refuses: fewer in flight where those are too many
 * ({@link flightLimit}), a lower rate where they are not ({@link learnedRate}). A pause that the service asks for holds
 * every request back, since limits are per organization.
 */
export function createPacer(options: PacerOptions): Pacer {
  const { concurrency, maxRequestsPerMinute, clock, pauseOf } = options;
  const limit = pLimit(concurrency);
  const flight = flightLimit(concurrency, clock);
  const rate = learnedRate(clock);
  const budget = maxRequestsPerMinute === null ? undefined : requestBudget(maxRequestsPerMinute, clock);
  let left = options.maxRequests ?? Number.POSITIVE_INFINITY;
  let inFlight = 0;
  let pausedUntilMs = 0;
  let refusalsInRow = 0;
  // How often the pace was lowered. A request that began before says nothing about the pace since.
  let lowered = 0;

  async function turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    // Looked at again after each wait: a pause may have been asked for meanwhile, or another took the turn.
    for (let waitMs = untilTurnMs(); waitMs > 0; waitMs = untilTurnMs()) await clock.sleep(waitMs, signal);
    if (left <= 0) throw new RequestsSpentError(options.maxRequests ?? 0);
    left -= 1;
    budget?.spend();
    rate.spend();
  }

  function untilTurnMs(): number {
    // What is not to begin at all need not wait.
    if (left <= 0) return 0;
    return Math.max(pausedUntilMs - clock.monotonicMs(), budget?.waitMs() ?? 0, rate.waitMs());
  }

  function refused({ pauseMs, isLimit }: Pause, begun: Begun): void {
    hold(pauseMs);
    if (begun.lowered < lowered) return;
    lowered += 1;
    if (!isLimit) flight.overloaded();
    else if (!rate.isUsedUp && flight.refused(begun)) rate.suspected();
    else {
      rate.refused(inFlight - 1);
      refusalsInRow += 1;
      if (pauseMs === 0) hold(Math.min(PAUSE_MS.max, PAUSE_MS.first * 2 ** (refusalsInRow - 1)));
    }
    limit.concurrency = flight.now;
  }

  function hold(pauseMs: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, clock.monotonicMs() + pauseMs);
  }

  function accepted(begun: Begun): void {
    refusalsInRow = 0;
    if (begun.lowered === lowered) {
      rate.accepted();
      flight.accepted(begun);
    } else {
      rate.acceptedLate();
      flight.acceptedLate(begun);
    }
    if (limit.concurrency !== flight.now) limit.concurrency = flight.now;
  }

  return {
    // The result is looked at inside the limit, before the next request in line can begin.
    run: (send, signal) =>
      limit(async () => {
        await turn(signal);
        inFlight += 1;
        const begun = { inFlight, lowered, began: flight.begin() };
        try {
          const result = await send();
          accepted(begun);
          return result;
        } catch (error) {
          const pause = pauseOf(error);
          if (pause !== undefined) refused(pause, begun);
          throw error;
        } finally {
          inFlight -= 1;
        }
      }),
    turn,
    get concurrency() {
      return limit.concurrency;
    },
  };
}

/** The state of things when a request began. */
interface Begun {
  /** Requests in flight, this one included. */
  readonly inFlight: number;
  readonly lowered: number;
  /** The instant, as the limit of requests in flight counts them. */
  readonly began: number;
}
