import pLimit from 'p-limit';
import type { Clock } from '../core/clock.ts';
import { RequestsSpentError } from '../core/errors.ts';
import {
  burstEnded,
  doubted,
  type Flight,
  flightAnswered,
  flightOverloaded,
  flightRefused,
  mayBeTooMany,
  openFlight,
  type Rate,
  rateAnswered,
  rateRefused,
  rateSent,
  rateSuspected,
  UNKNOWN_RATE,
} from './rate.ts';

/** Options of {@link createPacer}. */
interface PacerOptions {
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
  /**
   * Runs `send` in its turn and returns its result. The outcome changes the pace of later requests.
   * @param isHeld true if the request must not begin when its turn comes. @default false
   * @throws {HeldBackError} if it was held.
   */
  run<Result>(send: () => Promise<Result>, signal: AbortSignal, isHeld?: () => boolean): Promise<Result>;
  /** Waits for the turn of one more request within `run`, such as that of a redirect. */
  turn(signal: AbortSignal): Promise<void>;
  /** Milliseconds until one more request may begin; 0 if it may begin now, or may never. */
  untilTurnMs(): number;
  /** Requests that may be in flight now. */
  readonly concurrency: number;
}

/** A request was held back when its turn came. It was not sent, and counts nowhere. */
export class HeldBackError extends Error {}

/**
 * Drives the machine of {@link nextPace} with a clock and a queue.
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

  async function turn(signal: AbortSignal, isHeld = () => false): Promise<void> {
    signal.throwIfAborted();
    // Checked again after each wait: the service may have asked for a pause, or another request may have begun.
    for (let waitMs = untilTurnMs(); waitMs > 0; waitMs = untilTurnMs()) await clock.sleep(waitMs, signal);
    if (isHeld()) throw new HeldBackError();
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

  async function sendInTurn<Result>(
    send: () => Promise<Result>,
    signal: AbortSignal,
    isHeld?: () => boolean,
  ): Promise<Result> {
    await turn(signal, isHeld);
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
    run: (send, signal, isHeld) => limit(() => sendInTurn(send, signal, isHeld)),
    turn,
    untilTurnMs,
    get concurrency() {
      return limit.concurrency;
    },
  };
}

/** The pause in milliseconds after a refusal for which the service names no pause. It doubles with each refusal in a row. */
const PAUSE_MS = { first: 250, max: 8_000 } as const;

/**
 * The pace of requests: how many may be in flight ({@link Flight}), how fast they may begin ({@link Rate}), and a pause
 * that the service asked for. Only {@link nextPace} computes the next pace.
 */
interface Pace {
  readonly flight: Flight;
  readonly rate: Rate;
  /** No request begins before this instant. */
  readonly resumeAtMs: number;
  /** Refusals since the latest answer that were caused by the rate. */
  readonly refusalsInRow: number;
  /** Answers since the latest refusal that changed the pace: to requests sent after it, only to earlier ones, or none. */
  readonly answeredSince: 'newer' | 'older' | 'none';
  /** Counts the refusals that changed the pace. A request of an earlier epoch says nothing about the pace since. */
  readonly epoch: number;
}

/** Facts about a request at the time when it was sent. */
export interface Sent {
  readonly epoch: number;
  /** Requests in flight when it was sent, itself included. */
  readonly inFlight: number;
}

/** What happens to requests. Instants are in milliseconds of a clock that never goes back. */
type PaceEvent =
  /** A request begins, or follows a redirect. */
  | { readonly type: 'sent'; readonly atMs: number }
  | { readonly type: 'answered'; readonly atMs: number; readonly request: Sent }
  /** It failed for a reason that says nothing about the pace. */
  | { readonly type: 'failed'; readonly request: Sent }
  | {
      readonly type: 'refused';
      readonly atMs: number;
      readonly request: Sent;
      /** Requests in flight now, this one included. */
      readonly inFlight: number;
      /** The pause that the service asks for; 0 if it names none. */
      readonly pauseMs: number;
      /** `limit`: the service counts requests, so a lower rate helps. `overload`: the cause is unknown. */
      readonly cause: 'limit' | 'overload';
    };

/** The pace at the beginning: `concurrency` requests in flight, at any rate. */
export function openPace(concurrency: number): Pace {
  return {
    flight: openFlight(concurrency),
    rate: UNKNOWN_RATE,
    resumeAtMs: 0,
    refusalsInRow: 0,
    answeredSince: 'newer',
    epoch: 0,
  };
}

/** Milliseconds until the pace allows the next request to begin; 0 if it may begin now. */
export function untilNextMs({ resumeAtMs, rate }: Pace, atMs: number): number {
  return Math.max(0, resumeAtMs - atMs, rate.nextAtMs - atMs);
}

/** The pace after an event. Pure. */
export function nextPace(pace: Pace, event: PaceEvent): Pace {
  switch (event.type) {
    case 'sent':
      return { ...pace, rate: rateSent(pace.rate, event.atMs) };
    case 'answered':
      return afterAnswer(pace, event);
    case 'failed':
      return { ...pace, flight: burstEnded(pace.flight, { ...event.request, isRefused: false }) };
    case 'refused':
      return afterRefusal(pace, event);
  }
}

function afterAnswer(pace: Pace, { request, atMs }: Extract<PaceEvent, { type: 'answered' }>): Pace {
  const isLate = request.epoch < pace.epoch;
  const flight = isLate
    ? burstEnded(pace.flight, { epoch: request.epoch, isRefused: false })
    : flightAnswered(pace.flight, { inFlight: request.inFlight, atMs });
  const answeredSince = isLate && pace.answeredSince !== 'newer' ? 'older' : 'newer';
  return { ...pace, flight, rate: rateAnswered(pace.rate, { isLate }), refusalsInRow: 0, answeredSince };
}

/**
 * The pace after a refusal, which does not say whether too many requests are in flight or too many begin. The rate counts
 * as the cause while it is used up, or if the number in flight is proven; otherwise the number in flight counts as the cause.
 */
function afterRefusal(pace: Pace, event: Extract<PaceEvent, { type: 'refused' }>): Pace {
  const { request, atMs, inFlight, pauseMs, cause } = event;
  const { flight, rate } = pace;
  const resumeAtMs = Math.max(pace.resumeAtMs, atMs + pauseMs);
  if (request.epoch < pace.epoch) {
    return { ...pace, resumeAtMs, flight: burstEnded(flight, { epoch: request.epoch, isRefused: true }) };
  }
  const next: Pace = { ...pace, resumeAtMs, answeredSince: 'none', epoch: pace.epoch + 1 };
  if (cause === 'overload') return { ...next, flight: flightOverloaded(flight) };
  // Requests are refused while others are answered. So too many are in flight now, even if this number was proven before.
  const isStuck = pace.answeredSince === 'older';
  if (isStuck ? flight.limit > 1 : !rate.isUsedUp && mayBeTooMany(flight)) {
    return {
      ...next,
      flight: flightRefused(isStuck ? doubted(flight) : flight, { epoch: request.epoch, inFlight, atMs }),
      rate: rateSuspected(rate, atMs),
    };
  }
  const refusalsInRow = pace.refusalsInRow + 1;
  const ownPauseMs = pauseMs > 0 ? 0 : Math.min(PAUSE_MS.max, PAUSE_MS.first * 2 ** (refusalsInRow - 1));
  return {
    ...next,
    rate: rateRefused(rate, {
      atMs,
      inFlight: inFlight - 1,
      pauseMs: Math.max(pauseMs, ownPauseMs),
      isAway: pace.answeredSince === 'none',
    }),
    refusalsInRow,
    resumeAtMs: Math.max(resumeAtMs, atMs + ownPauseMs),
  };
}

const WINDOW_MS = 60_000;

/** A hard budget of requests. */
interface RequestBudget {
  /** Milliseconds until one more request may begin; 0 when it may now. */
  waitMs(): number;
  /** Records that a request begins now. */
  spend(): void;
}

/**
 * A budget: at most `perMinute` requests begin in any 60 seconds. It counts when requests really begin, not when they
 * were scheduled, so a late timer does not let more through afterwards.
 */
function requestBudget(perMinute: number, clock: Clock): RequestBudget {
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
