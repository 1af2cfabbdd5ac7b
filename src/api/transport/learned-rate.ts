import type { Clock } from '../../core/clock.ts';

/** How far back refusals tell something about the limit that is in force. */
const MEMORY_MS = 60_000;
/** Time and answers between two refusals from which a rate may be told; more answers tell it better. */
const SAMPLE_MS_MIN = 1_000;
const SAMPLE_ANSWERS = 20;
/** What is asked for of the rate that the service was seen to bear. */
const MARGIN = 0.95;
/**
 * How far a single refusal lowers a rate that is known already: little where what was measured is near it, since few
 * answers measure badly.
 */
const DROP = { near: 0.8, nearMax: 0.93, farMax: 0.5 } as const;
/**
 * Growth of the rate by each answer: slow near the limit, where a try too many is refused, faster the longer none is.
 * Where answers come fast each counts for less, because a refusal costs a pause, however many it keeps from beginning.
 */
const GROWTH = [
  { answers: 150, share: 0.0005 },
  { answers: 300, share: 0.002 },
  { answers: Number.POSITIVE_INFINITY, share: 0.01 },
] as const;
const WHOLE_ANSWER_MS = 250;
/** Growth by each answer of a rate that was measured and never tried: few answers measure badly. */
const TRIAL_SHARE = 0.005;
/** How far a request that began late lets the next one begin early: a share of their distance, some ms at least. */
const CATCH_UP_SHARE = 0.04;
const CATCH_UP_MS_MIN = 20;

/** The rate of requests that the service bears, learned from what it refuses; no limit until then. */
export interface LearnedRate {
  /** Milliseconds until one more request may begin; 0 when it may now. */
  waitMs(): number;
  /** One more request begins now. */
  spend(): void;
  /** A request was answered that began since the latest refusal. */
  accepted(): void;
  /** A request was answered that began before: it belongs to what was allowed until then. */
  acceptedLate(): void;
  /** A request was refused, and not because of those in flight with it, of which there are so many. */
  refused(inFlight: number): void;
  /** A request was refused for a reason that is not clear: remembered, but not taken for the rate's fault. */
  suspected(): void;
  /** True while it is this rate that holds requests back. */
  readonly isUsedUp: boolean;
}

interface Refusal {
  readonly atMs: number;
  /** Requests that were begun until then and answered. */
  answers: number;
}

/**
 * Learns a rate. Where a service counts requests, whether in windows or in a bucket, nothing is left at a refusal: what
 * it answered between two of them, over the time between, is what it allows. The rate stays a little below that and
 * grows again until the next refusal.
 */
export function learnedRate(clock: Clock): LearnedRate {
  let perMs = Number.POSITIVE_INFINITY;
  let nextAtMs = 0;
  let answers = 0;
  let weightSinceRefusal = 0;
  // A rate that nobody uses up is not tested by answers, so it does not grow by them.
  let isUsedUp = false;
  // A rate that was refused while it was used up is near the limit.
  let isTried = false;
  let refusals: Refusal[] = [];

  function remember(): void {
    const nowMs = clock.monotonicMs();
    // While nothing is answered nothing can be measured: a service that is away for a while is not a slow one.
    const useful = refusals.filter(
      (refusal) => nowMs - refusal.atMs <= MEMORY_MS && refusal.answers < answers,
    );
    refusals = [...useful, { atMs: nowMs, answers }];
  }

  /** The rate between the latest refusal and an earlier one; undefined where they are too close to tell. */
  function measured(pending: number): number | undefined {
    const last = refusals.at(-1);
    const earlier = refusals.slice(0, -1);
    if (last === undefined) return undefined;
    const since =
      earlier.findLast((refusal) => last.answers - refusal.answers >= SAMPLE_ANSWERS) ?? earlier[0];
    if (since === undefined || last.atMs - since.atMs < SAMPLE_MS_MIN) return undefined;
    return (last.answers + pending - since.answers + 1) / (last.atMs - since.atMs);
  }

  return {
    waitMs: () => Math.max(0, nextAtMs - clock.monotonicMs()),
    spend: () => {
      if (perMs === Number.POSITIVE_INFINITY) return;
      const nowMs = clock.monotonicMs();
      const intervalMs = 1 / perMs;
      const catchUpMs = Math.max(CATCH_UP_MS_MIN, intervalMs * CATCH_UP_SHARE);
      isUsedUp = nowMs - nextAtMs < intervalMs;
      nextAtMs = Math.max(nextAtMs, nowMs - catchUpMs) + intervalMs;
    },
    accepted: () => {
      answers += 1;
      if (!isUsedUp) return;
      const weight = Math.min(1, 1 / perMs / WHOLE_ANSWER_MS);
      weightSinceRefusal += weight;
      const share = GROWTH.find((step) => weightSinceRefusal <= step.answers)?.share ?? 0;
      perMs *= 1 + (isTried ? weight * share : TRIAL_SHARE);
    },
    acceptedLate: () => {
      answers += 1;
      const last = refusals.at(-1);
      if (last !== undefined) last.answers += 1;
    },
    refused: (inFlight) => {
      // Refused again before anything was answered: that the service is away says nothing of the rate.
      const isAway = refusals.at(-1)?.answers === answers;
      remember();
      if (isAway) return;
      weightSinceRefusal = 0;
      // Those that were let through one by one will be answered; of a crowd nobody knows.
      const seen = measured(isUsedUp ? inFlight : 0) ?? perMs;
      isTried = isUsedUp;
      if (perMs === Number.POSITIVE_INFINITY) perMs = MARGIN * seen;
      else {
        const floor = perMs * (seen > perMs * DROP.near ? DROP.nearMax : DROP.farMax);
        perMs = MARGIN * Math.min(perMs, Math.max(seen, floor));
      }
      if (perMs < Number.POSITIVE_INFINITY) nextAtMs = clock.monotonicMs() + 1 / perMs;
    },
    suspected: remember,
    get isUsedUp() {
      return isUsedUp;
    },
  };
}
