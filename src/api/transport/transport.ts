import pRetry from 'p-retry';
import type { Clock } from '../../core/clock.ts';
import { DaywalkError, messageOf, RunError, UsageError } from '../../core/errors.ts';
import { ApiError, OverloadError, RequestError, UnknownOutcomeError } from '../errors.ts';
import type { ProxyOptions } from '../http/connections.ts';
import { type Answer, type Creation, createRequester, type Target } from '../http/request.ts';
import { BACKOFF, RETRY_AFTER_MAX_MS } from '../limits.ts';
import { signalLinker } from './linked-signal.ts';
import { createPacer, type Pause } from './pacer.ts';

/** What a transport needs to know. */
export interface TransportOptions {
  /** Bearer credential. */
  readonly apiKey: string;
  /** Bearer credential of the application host; the main one unless given. */
  readonly appApiKey?: string | null;
  readonly userAgent: string;
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** Requests in any 60 seconds at most; null without a limit. */
  readonly maxRequestsPerMinute: number | null;
  /** Requests at most, repetitions and redirects included; null or absent without a limit. */
  readonly maxRequests?: number | null;
  /** The proxy that other machines are reached through; null or absent without one. */
  readonly proxy?: ProxyOptions | null;
  /** Milliseconds of one attempt, headers to last byte. */
  readonly requestTimeoutMs: number;
  /** Attempts per request at most. */
  readonly attempts: number;
  readonly clock: Clock;
  /** Randomness of the back-off, 0 to 1. */
  readonly random: () => number;
  /** Told before each repetition. */
  readonly onRetry?: (retry: Retry) => void;
}

/** A request that is about to be repeated. */
export interface Retry {
  readonly target: string;
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: string;
}

interface PendingRetry {
  readonly attemptNumber: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Counts what a caller's requests cost. */
export interface Meter {
  requests: number;
  retries: number;
}

/** Sends requests: paced, repeated where that helps, counted. */
export interface Transport {
  /**
   * The answer to `target`, after as many attempts as it takes and the options allow.
   * @throws the error of the last attempt; {@link RunError} when the service asks to wait longer than is sensible.
   */
  get(target: Target, call: { signal: AbortSignal; meter?: Meter }): Promise<Answer>;
  /**
   * The answer to a POST that creates something. Repeated only where the service provably did not take the request:
   * it never reached it, or was refused with 429.
   * @throws {UnknownOutcomeError} when the thing was or may have been created.
   */
  create(target: Target, creation: Creation, call: { signal: AbortSignal; meter?: Meter }): Promise<Answer>;
  /** All requests sent so far. */
  readonly totals: Readonly<Meter>;
  /** Closes the connections; what is still under way, or begins later, is rejected. May be repeated. */
  close(): Promise<void>;
}

/** A transport over HTTP. */
export function createTransport(options: TransportOptions): Transport {
  const { clock } = options;
  const requester = createRequester({
    apiKey: options.apiKey,
    appApiKey: options.appApiKey ?? null,
    userAgent: options.userAgent,
    connections: options.concurrency,
    timeoutMs: options.requestTimeoutMs,
    proxy: options.proxy ?? null,
    clock,
  });
  const pacer = createPacer({ ...options, pauseOf });
  const totals: Meter = { requests: 0, retries: 0 };
  const closing = new AbortController();
  const link = signalLinker(closing.signal);

  function attempt(target: Target, signal: AbortSignal, meter: Meter | undefined): Promise<Answer> {
    const count = () => {
      totals.requests += 1;
      if (meter !== undefined) meter.requests += 1;
    };
    const beforeHop = async () => {
      await pacer.turn(signal);
      count();
    };
    return pacer.run(() => {
      count();
      return requester.send(target, { signal, beforeHop });
    }, signal);
  }

  async function waitBeforeRetry(error: Error, retry: PendingRetry): Promise<void> {
    const { attemptNumber, waitMs, signal } = retry;
    const target = error instanceof RequestError || error instanceof ApiError ? error.target : 'request';
    options.onRetry?.({ target, attempt: attemptNumber, waitMs, error: messageOf(error) });
    await clock.sleep(waitMs, signal);
  }

  async function answered(target: Target, signal: AbortSignal, meter: Meter | undefined): Promise<Answer> {
    const first = attempt(target, signal, meter);
    try {
      return await first;
    } catch {
      // What repeats requests costs as much as sending one, so it is used where there is something to repeat.
      return repeated(first, { target, signal, meter });
    }
  }

  /** The answer of the first attempt or of a later one. */
  function repeated(
    first: Promise<Answer>,
    { target, signal, meter }: { target: Target; signal: AbortSignal; meter: Meter | undefined },
  ): Promise<Answer> {
    // Failures of a kind that allows fewer attempts than others; only these use up their own number.
    let limited = 0;
    return pRetry(
      (attemptNumber) => {
        if (attemptNumber === 1) return first;
        totals.retries += 1;
        if (meter !== undefined) meter.retries += 1;
        return attempt(target, signal, meter);
      },
      {
        retries: options.attempts - 1,
        // The waiting is done below, where the error is known.
        minTimeout: 0,
        factor: 1,
        onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
          // What became of a creation is worth more than why it was given up.
          if (!(error instanceof UnknownOutcomeError)) signal.throwIfAborted();
          if (error instanceof RequestError && error.attemptsMax < Number.POSITIVE_INFINITY) limited += 1;
          if (!isWorthRepeating(error, limited)) throw error;
          const waitMs = waitAfter(error, attemptNumber, options.random);
          if (retriesLeft === 0) throw error;
          await waitBeforeRetry(error, { attemptNumber, waitMs, signal });
        },
      },
    );
  }

  const send: Transport['get'] = async (target, { signal, meter }) => {
    const linked = link(signal);
    try {
      return await answered(target, linked.signal, meter);
    } finally {
      linked.unlink();
    }
  };

  return {
    totals,
    get: send,
    create: (target, creation, call) => send({ ...target, creation }, call),
    close: () => {
      closing.abort(
        new UsageError('the client was closed', { hint: 'await the calls of a client before you close it' }),
      );
      return requester.close();
    },
  };
}

function pauseOf(error: unknown): Pause | undefined {
  if (!(error instanceof OverloadError)) return undefined;
  const { retryAfterMs = 0 } = error;
  // A longer wait ends the run; nothing has to be held back for it.
  const pauseMs = retryAfterMs > RETRY_AFTER_MAX_MS ? 0 : retryAfterMs;
  return { pauseMs, cause: error.status === 429 || error.retryAfterMs !== undefined ? 'limit' : 'overload' };
}

function isWorthRepeating(error: Error, limited: number): boolean {
  if (!(error instanceof DaywalkError) || error.effect !== 'retry') return false;
  return !(error instanceof RequestError) || limited < error.attemptsMax;
}

/**
 * Milliseconds to wait after a failed attempt: what the service asked for, else full jitter under an exponential
 * bound, so that many clients do not come back in step.
 */
function waitAfter(error: Error, attemptNumber: number, random: () => number): number {
  const asked = error instanceof OverloadError ? error.retryAfterMs : undefined;
  if (asked !== undefined && asked > RETRY_AFTER_MAX_MS) {
    throw new RunError(`${messageOf(error)}; asks to come back in ${Math.ceil(asked / 1000)} s`, {
      cause: error,
      hint: 'run again after that time: it resumes where this run ended',
    });
  }
  const bound = Math.min(BACKOFF.maxMs, BACKOFF.baseMs * 2 ** (attemptNumber - 1));
  return (asked ?? 0) + Math.round(random() * bound);
}
