import {
  burstEnded,
  doubted,
  type Flight,
  flightAnswered,
  flightOverloaded,
  flightRefused,
  mayBeTooMany,
  openFlight,
} from './flight.ts';
import { type Rate, rateAnswered, rateRefused, rateSent, rateSuspected, UNKNOWN_RATE } from './rate.ts';

/** The pause after refusals in a row for which the service names none, in milliseconds. */
const PAUSE_MS = { first: 250, max: 8_000 } as const;

/**
 * The pace of requests: how many may be in flight ({@link Flight}), how fast they may begin ({@link Rate}), and a pause
 * that the service asked for. {@link nextPace} is the only way from one pace to the next.
 */
export interface Pace {
  readonly flight: Flight;
  readonly rate: Rate;
  /** No request begins before this instant. */
  readonly resumeAtMs: number;
  /** Refusals that the rate accounts for, since the latest answer. */
  readonly refusalsInRow: number;
  /** What has been answered since the latest refusal that changed the pace: requests sent after it, before it, or none. */
  readonly answeredSince: 'newer' | 'older' | 'none';
  /** Counts the refusals that changed the pace. A request of an earlier epoch says nothing about the pace since. */
  readonly epoch: number;
}

/** What the driver remembers of a request that it sent. */
export interface Sent {
  readonly epoch: number;
  /** Requests in flight when it was sent, itself included. */
  readonly inFlight: number;
}

/** What happens to requests. Instants are in milliseconds of a clock that never goes back. */
export type PaceEvent =
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
      /** The pause that the service asks for; 0 where it names none. */
      readonly pauseMs: number;
      /** `limit`: the service counts requests, so fewer help. `overload` may have any cause. */
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

/** Milliseconds until the pace allows the next request to begin; 0 where it may begin now. */
export function untilNextMs({ resumeAtMs, rate }: Pace, atMs: number): number {
  return Math.max(0, resumeAtMs - atMs, rate.nextAtMs - atMs);
}

/** The pace after an event. Pure. */
export function nextPace(pace: Pace, event: PaceEvent): Pace {
  switch (event.type) {
    case 'sent':
      return { ...pace, rate: rateSent(pace.rate, event.atMs) };
    case 'answered':
      return answered(pace, event);
    case 'failed':
      return { ...pace, flight: burstEnded(pace.flight, { ...event.request, isRefused: false }) };
    case 'refused':
      return refused(pace, event);
  }
}

function answered(pace: Pace, { request, atMs }: Extract<PaceEvent, { type: 'answered' }>): Pace {
  const isLate = request.epoch < pace.epoch;
  const flight = isLate
    ? burstEnded(pace.flight, { epoch: request.epoch, isRefused: false })
    : flightAnswered(pace.flight, { inFlight: request.inFlight, atMs });
  const answeredSince = isLate && pace.answeredSince !== 'newer' ? 'older' : 'newer';
  return { ...pace, flight, rate: rateAnswered(pace.rate, { isLate }), refusalsInRow: 0, answeredSince };
}

/**
 * A refusal does not say whether too many requests are in flight or too many begin. It is the rate's fault while the
 * rate is used up, or where so many in flight are proven; otherwise it is the fault of those in flight.
 */
function refused(pace: Pace, event: Extract<PaceEvent, { type: 'refused' }>): Pace {
  const { request, atMs, inFlight, pauseMs, cause } = event;
  const { flight, rate } = pace;
  const resumeAtMs = Math.max(pace.resumeAtMs, atMs + pauseMs);
  if (request.epoch < pace.epoch) {
    return { ...pace, resumeAtMs, flight: burstEnded(flight, { epoch: request.epoch, isRefused: true }) };
  }
  const next: Pace = { ...pace, resumeAtMs, answeredSince: 'none', epoch: pace.epoch + 1 };
  if (cause === 'overload') return { ...next, flight: flightOverloaded(flight) };
  // Requests are refused although others are answered: whatever was proven, so many at once are too many now.
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
