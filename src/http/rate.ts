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
