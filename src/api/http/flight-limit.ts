import type { Clock } from '../../core/clock.ts';

/** Answers in a row, per request in flight, after which one more is tried. */
const RECOVERY_ROUNDS = 4;
/** Answers in a row, per request in flight, after which so many are known to be borne. */
const PROOF_ROUNDS = 2;
/** How long a number that the service refused is not tried again, at first and at most. */
const KNOWN_MS = { first: 30_000, max: 600_000 } as const;

/** How many requests may be in flight. */
export interface FlightLimit {
  readonly now: number;
  /** A request was answered that began since the limit was last lowered, with so many in flight, itself included. */
  accepted(inFlight: number): void;
  /** A request was answered that began before. */
  acceptedLate(): void;
  /**
   * A request was refused, and so many were answered since it began. True where it was too many in flight that may be
   * the reason: the limit is lower now.
   */
  refused(answeredMeanwhile: number): boolean;
  /** The service is overloaded: what it bore before says nothing, so the limit is half of what it was. */
  overloaded(): void;
}

/**
 * A limit that falls at a refusal to what was answered of those in flight, or by half where nothing was, and grows by one
 * after a series of answers. A number that was borne for a while is not doubted; where one more is refused, that is the
 * service's own limit, which is not tried again for some time.
 */
export function flightLimit(most: number, clock: Clock): FlightLimit {
  let limit = most;
  let proven = 0;
  let answersInRow = 0;
  let isFull = false;
  // The limit before it was lowered, and how many of those that were in flight then are answered.
  let before = most;
  let answered = 0;
  let knownUntilMs = 0;
  let knownMs: number = KNOWN_MS.first;

  function lower(): void {
    limit = Math.max(1, answered > 0 ? Math.min(answered, before - 1) : Math.floor(before / 2));
  }

  return {
    get now() {
      return limit;
    },
    accepted: (inFlight) => {
      answersInRow += 1;
      isFull ||= inFlight >= limit;
      if (isFull && answersInRow >= limit * PROOF_ROUNDS) proven = Math.max(proven, limit);
      const isKnown = limit >= proven && clock.monotonicMs() < knownUntilMs;
      if (isKnown || limit >= most || answersInRow < limit * RECOVERY_ROUNDS) return;
      limit += 1;
      answersInRow = 0;
      isFull = false;
    },
    acceptedLate: () => {
      if (before <= limit) return;
      answered += 1;
      lower();
    },
    refused: (answeredMeanwhile) => {
      answersInRow = 0;
      isFull = false;
      if (limit <= proven || limit === 1) {
        before = limit;
        return false;
      }
      before = limit;
      answered = answeredMeanwhile;
      lower();
      if (before === proven + 1) {
        knownUntilMs = clock.monotonicMs() + knownMs;
        knownMs = Math.min(KNOWN_MS.max, knownMs * 2);
        limit = proven;
      }
      return true;
    },
    overloaded: () => {
      answersInRow = 0;
      isFull = false;
      limit = Math.max(1, Math.floor(limit / 2));
      before = limit;
      proven = Math.min(proven, limit);
    },
  };
}
