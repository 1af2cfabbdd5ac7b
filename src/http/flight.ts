/** Rounds of answers in a row after which a limit counts as proven. */
const PROOF_ROUNDS = 2;
/** Rounds of answers in a row after which the limit is raised by one. */
const GROWTH_ROUNDS = 4;
/** How long the service's own limit is held before a higher one is tried, in milliseconds: the first time, and at most. */
const HOLD_MS = { first: 30_000, max: 600_000 } as const;

/** Requests that were in flight together when one of them was refused. */
interface Burst {
  readonly epoch: number;
  /** The limit that let them through. */
  readonly limit: number;
  readonly size: number;
  readonly refused: number;
  /** Requests whose outcome is not known yet. */
  readonly pending: number;
}

/**
 * The limit of requests in flight, as a state machine.
 *
 * | state | meaning | next state |
 * |---|---|---|
 * | `unproven` | the limit has not been used for long | two rounds of answers: `proven`; four rounds: `unproven` with one more request; a refusal: `counting` |
 * | `counting` | some requests of a burst were refused; the outcomes of the others are counted | the burst has ended: `unproven` at the number of answered requests, or at half if none was answered |
 * | `proven` | the service has answered this many at once for two rounds: a refusal has another cause | two more rounds: `trying` |
 * | `trying` | one more than `proven` | two rounds of answers: `proven`; a refusal: `held` at one fewer |
 * | `held` | the service's own limit is known | four rounds of answers, and the hold is over: `trying` |
 *
 * A round is one answer for each request that may be in flight. An overload halves the limit in every state.
 */
export interface Flight {
  readonly state: 'unproven' | 'counting' | 'proven' | 'trying' | 'held';
  readonly limit: number;
  /** The limit never exceeds this. */
  readonly max: number;
  /** The highest proven limit; 0 if none is proven. */
  readonly proven: number;
  /** Answers in a row under this limit. */
  readonly answers: number;
  /** True once the number of requests in flight has reached the limit. */
  readonly isFull: boolean;
  readonly burst: Burst | undefined;
  readonly heldUntilMs: number;
  readonly holdMs: number;
}

/** The initial limit: everything is allowed, and nothing is proven. */
export function openFlight(max: number): Flight {
  return withLimit(
    {
      state: 'unproven',
      limit: max,
      max,
      proven: 0,
      answers: 0,
      isFull: false,
      burst: undefined,
      heldUntilMs: 0,
      holdMs: HOLD_MS.first,
    },
    max,
  );
}

/** A request that was sent under this limit was answered. `inFlight` counted it and the others when it was sent. */
export function flightAnswered(
  flight: Flight,
  { inFlight, atMs }: { inFlight: number; atMs: number },
): Flight {
  const { state, limit, proven } = flight;
  const answers = flight.answers + 1;
  const next = { ...flight, answers, isFull: flight.isFull || inFlight >= limit };
  // A request that is still pending after this many answers is slow, not refused.
  if (state === 'counting') return answers < limit * GROWTH_ROUNDS ? next : endBurst(next);
  const isProven = next.isFull && answers >= limit * PROOF_ROUNDS;
  const isHeld = state === 'held' && atMs < flight.heldUntilMs;
  if (!isHeld && limit < flight.max && answers >= limit * GROWTH_ROUNDS) return withLimit(next, limit + 1);
  if (isProven && limit > proven) return { ...next, state: 'proven', proven: limit };
  return next;
}

/** True if a refusal may mean that too many requests are in flight. */
export function mayBeTooMany({ state, limit }: Flight): boolean {
  return limit > 1 && state !== 'proven' && state !== 'held';
}

/** A request was refused because too many were in flight: `inFlight`, including the refused one. */
export function flightRefused(
  flight: Flight,
  { epoch, inFlight, atMs }: { epoch: number; inFlight: number; atMs: number },
): Flight {
  const { state, limit, holdMs } = flight;
  if (state === 'trying') {
    const heldUntilMs = atMs + holdMs;
    const held = withLimit({ ...flight, holdMs: Math.min(HOLD_MS.max, holdMs * 2), heldUntilMs }, limit - 1);
    return { ...held, state: 'held' };
  }
  const burst = { epoch, limit, size: inFlight, refused: 1, pending: inFlight - 1 };
  return countBurst({ ...flight, state: 'counting', answers: 0, isFull: false }, burst);
}

/** A request of a burst has ended, refused or not. */
export function burstEnded(
  flight: Flight,
  { epoch, isRefused }: { epoch: number; isRefused: boolean },
): Flight {
  const { state, burst } = flight;
  if (state !== 'counting' || burst === undefined || epoch > burst.epoch) return flight;
  const refused = burst.refused + (isRefused ? 1 : 0);
  return countBurst(flight, { ...burst, refused, pending: burst.pending - 1 });
}

/** The service is overloaded. Its earlier answers prove nothing then, so the limit is halved. */
export function flightOverloaded(flight: Flight): Flight {
  const limit = Math.max(1, Math.floor(flight.limit / 2));
  return withLimit({ ...flight, proven: Math.min(flight.proven, limit) }, limit);
}

/** No limit counts as proven any more, because requests are refused while others are answered. */
export function doubted(flight: Flight): Flight {
  return { ...flight, state: 'unproven', proven: 0 };
}

/** While a burst is being counted, no more than half of it may be in flight. */
function countBurst(flight: Flight, burst: Burst): Flight {
  const next = { ...flight, burst };
  if (burst.pending === 0) return endBurst(next);
  const limit = Math.max(1, Math.min(Math.floor(burst.limit / 2), burst.size - burst.refused));
  return { ...next, limit };
}

function endBurst(flight: Flight): Flight {
  const { burst } = flight;
  if (burst === undefined) return flight;
  const answered = burst.size - burst.refused;
  const limit = answered > 0 ? Math.min(answered, burst.limit - 1) : Math.floor(burst.limit / 2);
  return withLimit(flight, Math.max(1, limit));
}

function withLimit(flight: Flight, limit: number): Flight {
  const { proven } = flight;
  const above = proven > 0 && limit === proven + 1 ? 'trying' : 'unproven';
  const state = limit <= proven ? 'proven' : above;
  return { ...flight, state, limit, answers: 0, isFull: false, burst: undefined };
}
