/** A simulated service that limits its clients. */
export interface Service {
  /** A request arrives now. */
  answer(atMs: number): Verdict;
  /** A request that arrived earlier has ended. */
  ended(isRefused: boolean): void;
}

export interface Verdict {
  readonly isRefused: boolean;
  /** The pause that the refusal asks for; 0 where it names none. */
  readonly pauseMs: number;
  readonly cause: 'limit' | 'overload';
  /** Milliseconds until the client knows. */
  readonly afterMs: number;
}

/** A rule by which requests are refused: the milliseconds to wait, or 0 where the request is accepted. */
export type Rule = (atMs: number, inFlight: number) => number;

/** So many at once. */
export const inFlightRule =
  (max: number): Rule =>
  (_, inFlight) =>
    inFlight < max ? 0 : 1000;

/** A token bucket: it allows a number of requests per minute, and `burst` at once. */
export function bucketRule(perMinute: number, burst: number): Rule {
  const perMs = perMinute / 60_000;
  let tokens = burst;
  let lastMs = 0;
  return (atMs) => {
    tokens = Math.min(burst, tokens + (atMs - lastMs) * perMs);
    lastMs = atMs;
    if (tokens < 1) return (1 - tokens) / perMs;
    tokens -= 1;
    return 0;
  };
}

/** So many in each window of the wall clock. */
export function windowRule(perWindow: number, windowMs: number): Rule {
  let window = -1;
  let used = 0;
  return (atMs) => {
    const current = Math.floor(atMs / windowMs);
    if (current !== window) used = 0;
    window = current;
    if (used >= perWindow) return (current + 1) * windowMs - atMs;
    used += 1;
    return 0;
  };
}

/** The first rule until an instant, the second from then on. */
export const changingRule =
  (before: Rule, after: Rule, changeMs: number): Rule =>
  (atMs, inFlight) =>
    (atMs < changeMs ? before : after)(atMs, inFlight);

export interface ServiceOptions {
  readonly rule: Rule;
  /** How long an answer takes. */
  readonly latencyMs: () => number;
  /** How long a refusal takes. */
  readonly refusalMs: () => number;
  /** Refusals carry `Retry-After`, in whole seconds. */
  readonly namesPause: boolean;
}

export function simulatedService({ rule, latencyMs, refusalMs, namesPause }: ServiceOptions): Service {
  let inFlight = 0;
  return {
    answer: (atMs) => {
      const waitMs = rule(atMs, inFlight);
      const isRefused = waitMs > 0;
      if (!isRefused) inFlight += 1;
      const pauseMs = isRefused && namesPause ? Math.ceil(waitMs / 1000) * 1000 : 0;
      return { isRefused, pauseMs, cause: 'limit', afterMs: isRefused ? refusalMs() : latencyMs() };
    },
    ended: (isRefused) => {
      if (!isRefused) inFlight -= 1;
    },
  };
}
