import pRetry from 'p-retry';
import type { Clock } from '../core/clock.ts';
import { DaywalkError, messageOf } from '../core/errors.ts';
import { HttpError, LongWaitError, OverloadError, RequestError, UnknownOutcomeError } from './errors.ts';
import { BACKOFF, RETRY_AFTER_MAX_MS } from './limits.ts';

/** A request that is about to be repeated. */
export interface Retry {
  /** Method, path and query. */
  readonly target: string;
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: string;
}

/** Options of {@link repeatAttempts}. */
export interface RetryPolicy {
  /** Maximum number of attempts per request, including the first one. */
  readonly attempts: number;
  readonly clock: Clock;
  /** Randomness of the back-off, 0 to 1. */
  readonly random: () => number;
  /** Called before each repetition. @default does nothing */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/**
 * The result of the first attempt or of a later one. Only errors with the effect `retry` are repeated.
 * @throws the error of the last attempt. @throws {LongWaitError} when the service asks for a longer wait than
 * {@link RETRY_AFTER_MAX_MS}.
 */
export function repeatAttempts<Result>(
  first: Promise<Result>,
  again: () => Promise<Result>,
  { attempts, clock, random, onRetry, signal }: RetryPolicy & { readonly signal: AbortSignal },
): Promise<Result> {
  // Counts the failures of kinds that have their own maximum of attempts. Other failures do not count towards it.
  let limited = 0;
  return pRetry((attemptNumber) => (attemptNumber === 1 ? first : again()), {
    retries: attempts - 1,
    // The wait happens below, because it depends on the error.
    minTimeout: 0,
    factor: 1,
    onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
      // The outcome of a creation matters more than the reason for stopping.
      if (!(error instanceof UnknownOutcomeError)) signal.throwIfAborted();
      if (error instanceof RequestError && error.attemptsMax < Number.POSITIVE_INFINITY) limited += 1;
      if (!isWorthRepeating(error, limited)) throw error;
      const waitMs = waitAfter(error, attemptNumber, random);
      if (retriesLeft === 0) throw error;
      const target = error instanceof HttpError ? error.target : 'request';
      onRetry?.({ target, attempt: attemptNumber, waitMs, error: messageOf(error) });
      await clock.sleep(waitMs, signal);
    },
  });
}

function isWorthRepeating(error: Error, limited: number): boolean {
  if (!(error instanceof DaywalkError) || error.effect !== 'retry') return false;
  return !(error instanceof RequestError) || limited < error.attemptsMax;
}

/**
 * Milliseconds to wait after a failed attempt: the time that the service asked for, plus full jitter under an exponential
 * limit, so that many clients do not return at the same time.
 */
function waitAfter(error: Error, attemptNumber: number, random: () => number): number {
  const asked = error instanceof OverloadError ? error.retryAfterMs : undefined;
  if (error instanceof OverloadError && asked !== undefined && asked > RETRY_AFTER_MAX_MS)
    throw new LongWaitError(error, asked);
  const bound = Math.min(BACKOFF.maxMs, BACKOFF.baseMs * 2 ** (attemptNumber - 1));
  return (asked ?? 0) + Math.round(random() * bound);
}
