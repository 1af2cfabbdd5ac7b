/** How long a refusal is used to measure the rate, in milliseconds. */
const MEMORY_MS = 60_000;
/**
 * The shortest time between two refusals that can measure a rate, the number of answers for a good measurement, and the
 * share of a request by which a count is taken to be wrong.
 */
const SAMPLE = { ms: 1_000, answers: 20, error: 0.2 } as const;
/** The share of the measured rate that is used. */
const MARGIN = 0.95;
/**
 * The smallest share of a known rate that is left after one refusal. It is larger if the measured rate is near the known
 * one, because few answers measure inaccurately.
 */
const DROP = { near: 0.8, nearMax: 0.93, farMax: 0.5 } as const;
/**
 * The share by which a step raises a tested rate: small at first, larger the longer nothing is refused. Each answer is a
 * step, but a second has at most four: the pause after a refusal takes the same time at any rate.
 */
const GROWTH = [
  { steps: 150, share: 0.0005 },
  { steps: 300, share: 0.002 },
  { steps: Number.POSITIVE_INFINITY, share: 0.01 },
] as const;
const STEP_MS = 250;
/** The share by which a step raises a rate that was measured but not tested yet. */
const UNTESTED_SHARE = 0.02;
/** How much delay the next request may make up for: a share of the interval, but at least some milliseconds. */
const CATCH_UP = { share: 0.04, ms: 20 } as const;

interface Refusal {
  readonly atMs: number;
  /** Number of answered requests that were sent before it. */
  readonly answers: number;
}

/**
 * The rate that the service allows, learned from its refusals. A service that counts requests, in windows or in a bucket,
 * refuses when none is left. So its limit is the number of answers between two refusals, divided by the time between them.
 *
 * | state | meaning | next state |
 * |---|---|---|
 * | `unknown` | no limit | the second refusal that measures a rate: `untested` |
 * | `untested` | the limit may be far above: the rate grows fast | a refusal while it is used up: `tested` |
 * | `tested` | the rate was refused while it was used up, so it is near the limit: it grows slowly | a refusal while it is not used up: `untested` |
 */
export interface Rate {
  readonly state: 'unknown' | 'untested' | 'tested';
  /** Infinite while the rate is unknown. */
  readonly perMs: number;
  readonly nextAtMs: number;
  /** True while this rate delays requests. Answers do not test a rate that is not used up. */
  readonly isUsedUp: boolean;
  readonly answers: number;
  /** Steps of growth since the latest refusal. */
  readonly steps: number;
  readonly refusals: readonly Refusal[];
}

/** The rate at the beginning: no limit is known. */
export const UNKNOWN_RATE: Rate = {
  state: 'unknown',
  perMs: Number.POSITIVE_INFINITY,
  nextAtMs: 0,
  isUsedUp: false,
  answers: 0,
  steps: 0,
  refusals: [],
};

/** A request is sent. */
export function rateSent(rate: Rate, atMs: number): Rate {
  const { state, perMs, nextAtMs } = rate;
  if (state === 'unknown') return rate;
  const intervalMs = 1 / perMs;
  const catchUpMs = Math.max(CATCH_UP.ms, intervalMs * CATCH_UP.share);
  return {
    ...rate,
    isUsedUp: atMs - nextAtMs < intervalMs,
    nextAtMs: Math.max(nextAtMs, atMs - catchUpMs) + intervalMs,
  };
}

/** A request was answered. One that was sent before the latest refusal counts as answered before it. */
export function rateAnswered(rate: Rate, { isLate }: { isLate: boolean }): Rate {
  const { state, perMs, refusals, isUsedUp } = rate;
  const answers = rate.answers + 1;
  const last = refusals.at(-1);
  if (isLate && last !== undefined) {
    return { ...rate, answers, refusals: refusals.with(-1, { ...last, answers: last.answers + 1 }) };
  }
  if (isLate || !isUsedUp) return { ...rate, answers };
  const step = Math.min(1, 1 / perMs / STEP_MS);
  const steps = rate.steps + step;
  const tested = GROWTH.find((growth) => steps <= growth.steps)?.share ?? 0;
  const share = state === 'tested' ? tested : UNTESTED_SHARE;
  return { ...rate, answers, steps, perMs: perMs * (1 + step * share) };
}

/** A request was refused, probably not because of the rate. The refusal is only recorded. */
export function rateSuspected(rate: Rate, atMs: number): Rate {
  const { answers } = rate;
  // Refusals without answers between them measure nothing: the service may have been down for a while.
  const useful = rate.refusals.filter(
    (refusal) => atMs - refusal.atMs <= MEMORY_MS && refusal.answers < answers,
  );
  return { ...rate, refusals: [...useful, { atMs, answers }] };
}

/** A request was refused because of the rate; `inFlight` others are still in flight. */
export function rateRefused(
  rate: Rate,
  { atMs, inFlight, pauseMs, isAway }: { atMs: number; inFlight: number; pauseMs: number; isAway: boolean },
): Rate {
  const { perMs, isUsedUp } = rate;
  const next = rateSuspected(rate, atMs);
  if (isAway) return next;
  // If the rate delays requests, those in flight will probably be answered. Otherwise that is unknown.
  const measured = measureRate(next.refusals, isUsedUp ? inFlight : 0);
  const seen = measured?.perMs ?? perMs;
  // A rate that was growing fast is near the limit, although most of the measured answers came at lower rates.
  const seenMax = seen + (measured?.errorPerMs ?? 0);
  const isNear = seenMax > perMs * DROP.near || (rate.state === 'untested' && isUsedUp);
  const drop = isNear ? DROP.nearMax : DROP.farMax;
  const lowered =
    rate.state === 'unknown' ? MARGIN * seen : MARGIN * Math.min(perMs, Math.max(seen, perMs * drop));
  if (lowered === Number.POSITIVE_INFINITY) return next;
  return {
    ...next,
    state: isUsedUp ? 'tested' : 'untested',
    perMs: lowered,
    nextAtMs: atMs + Math.max(pauseMs, 1 / lowered),
    steps: 0,
  };
}

/**
 * The rate between the latest refusal and an earlier one, with its possible error; undefined if they are too close
 * together.
 */
function measureRate(
  refusals: readonly Refusal[],
  pending: number,
): { readonly perMs: number; readonly errorPerMs: number } | undefined {
  const last = refusals.at(-1);
  const earlier = refusals.slice(0, -1);
  if (last === undefined) return undefined;
  const since = earlier.findLast((refusal) => last.answers - refusal.answers >= SAMPLE.answers) ?? earlier[0];
  if (since === undefined) return undefined;
  const forMs = last.atMs - since.atMs;
  if (forMs < SAMPLE.ms) return undefined;
  return { perMs: (last.answers + pending - since.answers + 1) / forMs, errorPerMs: SAMPLE.error / forMs };
}

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
