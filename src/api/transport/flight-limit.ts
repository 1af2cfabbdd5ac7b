import type { Clock } from '../../core/clock.ts';
import { Borne } from './borne.ts';

/** Answers in a row, per request in flight, after which one more is tried. */
const RECOVERY_ROUNDS = 4;
/** Answers in a row, per request in flight, after which so many are known to be borne. */
const PROOF_ROUNDS = 2;
/** How long a number that the service refused is not tried again, at first and at most. */
const KNOWN_MS = { first: 30_000, max: 600_000 } as const;

/** How many requests may be in flight. */
export interface FlightLimit {
  readonly now: number;
  /** A request begins; answers the instant, for what becomes of it. */
  begin(): number;
  /** A request was answered that began since the limit was last lowered, with so many in flight, itself included. */
  accepted(request: { readonly began: number; readonly inFlight: number }): void;
  /** A request was answered that began before. */
  acceptedLate(request: { readonly began: number }): void;
  /** A request was refused. True where too many in flight may be the reason: the limit is lower now. */
  refused(request: { readonly began: number }): boolean;
  /** The service is overloaded: what it bore before says nothing, so the limit is half of what it was. */
  overloaded(): void;
}

/**
 * A limit that falls at a refusal to what the service bore at once while it refused ({@link Borne}), or by half where that
 * was nothing, and grows by one after a series of answers. A number that was borne for a while is not doubted; where one more is refused, that is the
 * service's own limit, which is not tried again for some time.
 */
export function flightLimit(most: number, clock: Clock): FlightLimit {
  let limit = most;
  let proven = 0;
  let answersInRow = 0;
  let isFull = false;
  const borne = new Borne(most);
  // The limit before it was lowered, and the time of the request that was refused then.
  let before = most;
  let refusal = { from: 0, to: 0 };
  // The most that is known to have been borne at that refusal; what is learned later can only be more.
  let borneThen = 0;
  let knownUntilMs = 0;
  let knownMs: number = KNOWN_MS.first;

  function lower(): void {
    borneThen = Math.max(borneThen, borne.together(refusal));
    limit = Math.max(1, borneThen > 0 ? Math.min(borneThen, before - 1) : Math.floor(before / 2));
  }

  return {
    get now() {
      return limit;
    },
    begin: () => borne.tick(),
    accepted: ({ began, inFlight }) => {
      borne.answered(began);
      answersInRow += 1;
      isFull ||= inFlight >= limit;
      if (isFull && answersInRow >= limit * PROOF_ROUNDS) proven = Math.max(proven, limit);
      const isKnown = limit >= proven && clock.monotonicMs() < knownUntilMs;
      if (isKnown || limit >= most || answersInRow < limit * RECOVERY_ROUNDS) return;
      limit += 1;
      // What is answered late says no more than what was answered since.
      before = limit;
      answersInRow = 0;
      isFull = false;
    },
    acceptedLate: ({ began }) => {
      borne.answered(began);
      if (before <= limit) return;
      lower();
    },
    refused: ({ began }) => {
      answersInRow = 0;
      isFull = false;
      if (limit <= proven || limit === 1) {
        before = limit;
        return false;
      }
      before = limit;
      refusal = { from: began, to: borne.tick() };
      borneThen = 0;
      lower();
      if (before === proven + 1) {
        knownUntilMs = clock.monotonicMs() + knownMs;
        knownMs = Math.min(KNOWN_MS.max, knownMs * 2);
        limit = proven;
        // It is certain now, whatever else is answered.
        before = limit;
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
