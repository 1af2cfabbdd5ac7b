import type { Static } from 'typebox';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { recordOf } from '../checks/index.ts';
import { DaywalkError, type DaywalkErrorOptions, type ErrorEffect } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';

/** Options of every error about a request. */
interface RequestErrorOptions extends DaywalkErrorOptions {
  target: string;
  effect?: ErrorEffect;
  exitCode?: ExitCode;
}

/** An error about a request. */
export class HttpError extends DaywalkError {
  /** Method and path with query, never a header. */
  readonly target: string;
  declare readonly method: string;
  declare readonly path: string;
  /** True if the host was seen to answer other requests meanwhile. */
  readonly isAlone: boolean = false;

  constructor(message: string, options: RequestErrorOptions & { effect: ErrorEffect }) {
    super(message, { exitCode: EXIT.upstream, ...options });
    this.target = options.target;
  }
}

/** Failures that a wrong URL may cause: nothing listens there, the server does not speak TLS, or it is not the API. */
export type Unreached = 'refused' | 'not-tls' | 'not-json';

/** A request without a usable answer: connection refused, time-out, cut or oversized body, not JSON. */
export class RequestError extends HttpError {
  /** Maximum number of attempts for this kind of failure; the caller's own maximum applies too. */
  readonly attemptsMax: number;
  readonly unreached: Unreached | undefined;
  /** True if nothing answered: the name is not known, or the connection was refused, reset, or timed out. */
  readonly isSilence: boolean;

  constructor(
    message: string,
    options: RequestErrorOptions & {
      attemptsMax?: number;
      unreached?: Unreached | undefined;
      isSilence?: boolean;
    },
  ) {
    super(message, { effect: 'retry', ...options });
    this.attemptsMax = options.attemptsMax ?? Number.POSITIVE_INFINITY;
    this.unreached = options.unreached;
    this.isSilence = options.isSilence ?? false;
  }
}

/** What the response says about a failure (specification, sections 2.6 and 7). */
interface ProblemOptions extends RequestErrorOptions {
  problem: ProblemDetails;
}

/** An error that the service may have explained. */
class ProblemError extends HttpError {
  readonly problem: ProblemDetails;
  /** HTTP status title, from the body. */
  readonly title: string | undefined;
  /** Human-readable message, from the body. */
  readonly detail: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;

  constructor(message: string, options: ProblemOptions & { effect: ErrorEffect }) {
    super(message, options);
    this.problem = options.problem;
    this.title = options.problem.title;
    this.detail = options.problem.detail;
    this.metadata = options.problem.metadata;
  }
}

/** Options of {@link ApiError}. */
export interface ApiErrorOptions extends ProblemOptions {
  status: number;
  serverDate: Date | undefined;
}

/** The service answered with an error status. */
export class ApiError extends ProblemError {
  readonly status: number;
  /** The server's clock when it answered, from its Date header. */
  readonly serverDate: Date | undefined;

  constructor(message: string, options: ApiErrorOptions) {
    super(message, { effect: 'unit', ...options });
    this.status = options.status;
    this.serverDate = options.serverDate;
  }
}

/** 400: the service does not accept the parameters. Not repeated. */
export class BadRequestError extends ApiError {}

/** 401 or 403: the credential is missing, wrong, or lacks the role. Ends the run; exit code 3. */
export class CredentialError extends ApiError {
  constructor(message: string, options: ApiErrorOptions) {
    super(message, { ...options, effect: 'run', exitCode: EXIT.credential });
  }
}

/** 429 or 503: too many requests, or overloaded. Repeated after `retryAfterMs`, or a jittered wait. */
export class OverloadError extends ApiError {
  /** Milliseconds that the service asks to wait; undefined if it names no time. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ApiErrorOptions & { retryAfterMs: number | undefined }) {
    super(message, { ...options, effect: 'retry' });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** 429 or 503 with a `Retry-After` beyond 15 minutes. Not repeated; ends a run with exit code 4. */
export class LongWaitError extends ApiError {
  /** Milliseconds that the service asks to wait. */
  readonly retryAfterMs: number;

  constructor(refusal: OverloadError, retryAfterMs: number) {
    super(`${refusal.message}; asks to come back in ${Math.ceil(retryAfterMs / 1000)} s`, {
      target: refusal.target,
      status: refusal.status,
      problem: refusal.problem,
      requestId: refusal.requestId,
      serverDate: refusal.serverDate,
      cause: refusal,
      effect: 'run',
      hint: 'try again after that time',
      reason: 'long-wait',
    });
    this.retryAfterMs = retryAfterMs;
  }
}

/** Any other 5xx, 408 or 425: the service failed. Repeated. */
export class ServerError extends ApiError {
  constructor(message: string, options: ApiErrorOptions) {
    super(message, { ...options, effect: 'retry' });
  }
}

/** Options of {@link UnknownOutcomeError}. */
interface UnknownOutcomeErrorOptions extends RequestErrorOptions, Partial<ProblemOptions> {
  target: string;
  outcome: 'unknown' | 'created';
  status: number | undefined;
  /** The parsed body of the answer, if there was one. */
  body?: unknown;
  /** The session's ID, if the answer names it. */
  sessionId?: string | undefined;
}

/**
 * A creation may have succeeded: the service received the request and did not refuse it. `outcome` is `unknown` if the
 * thing may exist, and `created` if it exists but the response does not describe it. Never repeated, because that might
 * create another one.
 */
export class UnknownOutcomeError extends ProblemError {
  readonly outcome: 'unknown' | 'created';
  /** Status of the response; undefined if none came. */
  readonly status: number | undefined;
  /** The parsed body of the response; undefined if none came. */
  readonly body: unknown;
  /** ID of the created session; undefined if the response does not name it. */
  readonly sessionId: string | undefined;

  constructor(message: string, options: UnknownOutcomeErrorOptions) {
    const { problem = {}, requestId } = options;
    super(message, { ...options, problem, requestId, effect: 'unit' });
    this.outcome = options.outcome;
    this.status = options.status;
    this.body = options.body;
    this.sessionId = options.sessionId;
  }
}

/** Body of a refusal (specification, sections 2.6 and 7). Every field may be missing: proxies answer too. */
export const ProblemDetails = Type.Object({
  title: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  status: Type.Optional(Type.Number()),
  requestId: Type.Optional(Type.String()),
  metadata: Type.Optional(recordOf(Type.Unknown())),
});
export type ProblemDetails = Static<typeof ProblemDetails>;

export const problemDetailsCheck = Compile(ProblemDetails);
