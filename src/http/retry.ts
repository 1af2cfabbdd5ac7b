import pRetry from 'p-retry';
import type { Clock } from '../core/clock.ts';
import { DaywalkError, messageOf, RequestsSpentError, StoppedError } from '../core/errors.ts';
import type { Outlasted, Patience } from '../patience/index.ts';
import type { ApiRequest } from './api-request.ts';
import {
  ApiError,
  HttpError,
  LongWaitError,
  OverloadError,
  RequestError,
  UnknownOutcomeError,
} from './errors.ts';
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

const TOO_MANY = 429;
const SERVER_ERRORS_FROM = 500;

/** True if an outage of the host may have caused the error: nobody answers there, or what answers is overloaded or broken. */
function mayBeOutage(error: unknown): error is HttpError {
  if (error instanceof RequestError) return error.isSilence;
  // Whoever asks to come back later than a run waits has answered.
  if (!(error instanceof ApiError) || error instanceof LongWaitError) return false;
  return error.status === TOO_MANY || error.status >= SERVER_ERRORS_FROM;
}

/** The pause that a host asks for; null if the error says that it answers, or asks for longer than any run waits. */
function pauseOf(error: unknown): number | null {
  if (!mayBeOutage(error)) return null;
  const pauseMs = error instanceof OverloadError ? (error.retryAfterMs ?? 0) : 0;
  return pauseMs > RETRY_AFTER_MAX_MS ? null : pauseMs;
}

/** What a {@link PatientCall} needs. */
interface PatientCallOptions {
  readonly patience: Patience;
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
  /** Requests that a probe may use instead of this one, because it may be the request that fails, and not its host. */
  readonly probes: readonly ApiRequest[];
  readonly monotonicMs: () => number;
  /** Milliseconds until one more request may begin; 0 if it may now. */
  readonly untilTurnMs: () => number;
  /** Sends a request once, in its turn: it ends after its time limit, or after so many milliseconds if that is sooner. */
  readonly sendProbe: (request: ApiRequest, leftMs: number) => Promise<unknown>;
}

/** One call that waits while its host does not answer. */
export class PatientCall {
  readonly #options: PatientCallOptions;
  readonly #host: string;
  /** The instants of the last failure and of the one before, in this round of attempts. */
  #failures: { readonly last: number; readonly before: number } | undefined;

  constructor(options: PatientCallOptions) {
    this.#options = options;
    this.#host = originOf(options.request);
  }

  /** True while no request to the host may begin. */
  get isHeld(): boolean {
    return this.#options.patience.isHeld(this.#host);
  }

  /**
   * Waits until a request to the host may begin.
   * @throws {RequestError} if it still does not answer at the end of the patience.
   */
  async pass(): Promise<void> {
    const { patience, signal } = this.#options;
    if (this.isHeld && (await patience.pass(this.#host, signal)) === 'over') throw this.#silence();
  }

  /** Performs an attempt, and records what it says about the host. */
  async record<Result>(attempt: () => Promise<Result>): Promise<Result> {
    const { patience, signal, monotonicMs, request } = this.#options;
    const sent = { path: request.path, sentMs: monotonicMs() };
    try {
      const result = await attempt();
      patience.record(this.#host, { ...sent, outcome: 'answered' });
      return result;
    } catch (error) {
      if (signal.aborted || saysNothing(error)) throw error;
      patience.record(this.#host, { ...sent, outcome: mayBeOutage(error) ? 'failed' : 'refused' });
      const last = monotonicMs();
      this.#failures = { last, before: this.#failures?.last ?? last };
      throw error;
    }
  }

  /**
   * The answer, after as many rounds of attempts as the patience allows.
   * @param round performs up to so many attempts
   * @throws the error of the last attempt. @throws {RequestError} at the end of the patience.
   */
  async endure<Result>(round: (attemptsMax: number) => Promise<Result>): Promise<Result> {
    const { patience } = this.#options;
    let outlasted: Outlasted | undefined;
    for (;;) {
      this.#failures = undefined;
      try {
        return await round(outlasted === 'at-once' || patience.isOver(this.#host) ? 1 : Infinity);
      } catch (error) {
        const sinceMs = this.#failedSince();
        if (!mayBeOutage(error) || sinceMs === undefined) throw error;
        // After `at-once` it is repeated once, because the host may have come back just then.
        outlasted = await this.#outlast(sinceMs);
        if (outlasted === 'over') throw this.#silence(error);
        if (outlasted === 'none')
          throw Object.assign(error, { isAlone: patience.isFaulty(this.#host, this.#options.request.path) });
      }
    }
  }

  #failedSince(): number | undefined {
    return this.#failures?.before;
  }

  #outlast(sinceMs: number): Promise<Outlasted> {
    const { patience, request, signal, probes, untilTurnMs, sendProbe } = this.#options;
    const others = probes.filter((other) => originOf(other) === this.#host && other.path !== request.path);
    const all = [...others, request];
    let sent = 0;
    const probe = async (timeoutMs: number): Promise<number | null> => {
      const target = all[sent % all.length] ?? request;
      sent += 1;
      try {
        await sendProbe(target, timeoutMs);
        return null;
      } catch (error) {
        if (signal.aborted || saysNothing(error)) throw error;
        return pauseOf(error);
      }
    };
    return patience.outlast(this.#host, { sinceMs, path: request.path, signal, untilTurnMs, probe });
  }

  #silence(cause?: HttpError): RequestError {
    const { patience, request } = this.#options;
    const target = cause?.target ?? `GET ${request.path}`;
    const since = patience.lastWait(this.#host)?.since.toISOString() ?? 'its last answer';
    return new RequestError(`${target}: ${this.#host} has not answered since ${since}`, {
      target,
      cause,
      ...{ attemptsMax: 1, isSilence: true },
      ...(cause !== undefined && { details: [`last: ${messageOf(cause)}`], requestId: cause.requestId }),
      hint: 'the patience of this run is over; run again when the service answers: the run resumes',
    });
  }
}

/** True for what ends a request before the host could answer. */
function saysNothing(error: unknown): boolean {
  if (!(error instanceof DaywalkError)) return true;
  return error instanceof RequestsSpentError || error instanceof StoppedError;
}

// Kept, because parsing a URL takes longer than the rest of a request's preparation.
const origins = new Map<string, string>();

function originOf({ origin }: ApiRequest): string {
  const known = origins.get(origin) ?? new URL(origin).origin;
  origins.set(origin, known);
  return known;
}
