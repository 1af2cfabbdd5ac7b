import type { ErrorEffect } from '../core/errors.ts';
import { DaywalkError, type DaywalkErrorOptions } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import type { Problem } from './shapes/problem-details.ts';

/** What every error about a request carries. */
export interface RequestErrorOptions extends DaywalkErrorOptions {
  /** Method and path with query, never a header. */
  target: string;
  effect?: ErrorEffect;
  exitCode?: ExitCode;
}

/** What kept a request from being answered, where its cause may be the URL: nobody listens, no TLS is spoken, no API answers. */
export type Unreached = 'refused' | 'not-tls' | 'not-json';

/** A request that got no usable answer: refused connection, time-out, cut or oversized body, not JSON. */
export class RequestError extends DaywalkError {
  readonly target: string;
  /** Attempts that make sense for this kind of failure; the caller's own maximum holds too. */
  readonly attemptsMax: number;
  readonly unreached: Unreached | undefined;

  constructor(
    message: string,
    options: RequestErrorOptions & { attemptsMax?: number; unreached?: Unreached | undefined },
  ) {
    super(message, { effect: 'retry', exitCode: EXIT.upstream, ...options });
    this.target = options.target;
    this.attemptsMax = options.attemptsMax ?? Number.POSITIVE_INFINITY;
    this.unreached = options.unreached;
  }
}

/** What an answer with an error status carries (specification, sections 2.6 and 7). */
export interface ApiErrorOptions extends RequestErrorOptions {
  status: number;
  problem: Problem;
  requestId: string | undefined;
  /** The server's clock when it answered, from its Date header. */
  serverDate: Date | undefined;
}

/** The service answered with an error status. */
export class ApiError extends DaywalkError {
  readonly target: string;
  readonly status: number;
  /** HTTP status title, as the body says. */
  readonly title: string | undefined;
  /** Human-readable message, as the body says. */
  readonly detail: string | undefined;
  readonly requestId: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly serverDate: Date | undefined;

  constructor(message: string, options: ApiErrorOptions) {
    super(message, { effect: 'unit', exitCode: EXIT.upstream, ...options });
    this.target = options.target;
    this.status = options.status;
    this.title = options.problem.title;
    this.detail = options.problem.detail;
    this.requestId = options.requestId;
    this.metadata = options.problem.metadata;
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
  /** Milliseconds that the service asked to wait; undefined where it did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ApiErrorOptions & { retryAfterMs: number | undefined }) {
    super(message, { ...options, effect: 'retry' });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Any other 5xx, 408 or 425: the service failed. Repeated. */
export class ServerError extends ApiError {
  constructor(message: string, options: ApiErrorOptions) {
    super(message, { ...options, effect: 'retry' });
  }
}

/** What is known of a creation that did not end with a usable answer. */
export interface UnknownOutcomeErrorOptions extends RequestErrorOptions {
  outcome: 'unknown' | 'created';
  /** Of the answer, where there was one. */
  status?: number | undefined;
  problem?: Problem | undefined;
  requestId?: string | undefined;
}

/**
 * The service got a request that creates something, and did not say that it refused it: the thing may exist
 * (`outcome` is `unknown`), or exists but was not described (`created`). Never repeated, because that might make another.
 */
export class UnknownOutcomeError extends DaywalkError {
  readonly target: string;
  readonly outcome: 'unknown' | 'created';
  /** Status of the answer; undefined where none came. */
  readonly status: number | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  readonly requestId: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;

  constructor(message: string, options: UnknownOutcomeErrorOptions) {
    super(message, { exitCode: EXIT.upstream, ...options, effect: 'unit' });
    this.target = options.target;
    this.outcome = options.outcome;
    this.status = options.status;
    this.title = options.problem?.title;
    this.detail = options.problem?.detail;
    this.requestId = options.requestId;
    this.metadata = options.problem?.metadata;
  }
}
