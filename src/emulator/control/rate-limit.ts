import type { RateLimitQuirk } from '../quirks/quirks.ts';

const MINUTE_MS = 60_000;

/** Decides which requests exceed the rate. */
export interface RateLimiter {
  /** Returns the whole seconds to wait, or null when the request is accepted. `inFlight` includes the request. */
  waitSeconds(quirk: RateLimitQuirk | null, nowMs: number, inFlight: number): number | null;
}

/** Opens a token bucket. It starts full with the requests of a burst, and refills at the allowed rate. */
export function openRateLimiter(): RateLimiter {
  let tokens = Number.POSITIVE_INFINITY;
  let filledAtMs = 0;
  return {
    waitSeconds(quirk, nowMs, inFlight) {
      if (quirk === null) return null;
      if (quirk.inFlight !== undefined && inFlight > quirk.inFlight) return 1;
      if (quirk.requestsPerMinute === undefined) return null;
      const capacity = quirk.burst ?? quirk.requestsPerMinute;
      tokens = Math.min(capacity, tokens + ((nowMs - filledAtMs) * quirk.requestsPerMinute) / MINUTE_MS);
      filledAtMs = nowMs;
      if (tokens < 1) return Math.ceil(((1 - tokens) * MINUTE_MS) / quirk.requestsPerMinute / 1_000);
      tokens -= 1;
      return null;
    },
  };
}

/** Returns the Retry-After header in the form of the quirk. */
export function writeRetryAfter(
  quirk: RateLimitQuirk,
  waitSeconds: number,
  now: Date,
): Record<string, string> {
  switch (quirk.retryAfter ?? 'seconds') {
    case 'seconds':
      return { 'retry-after': String(waitSeconds) };
    case 'date':
      return { 'retry-after': new Date(now.getTime() + waitSeconds * 1_000).toUTCString() };
    case 'garbage':
      return { 'retry-after': 'in a little while' };
    case 'absent':
      return {};
  }
}
