import { setMaxListeners } from 'node:events';
import { type Facts, UsageError } from '../core/errors.ts';
import type { Patience } from '../patience/index.ts';
import { type ApiRequest, type Creation, nameOf, queryOf } from './api-request.ts';
import type { ProxyOptions } from './connections.ts';
import { CredentialError, OverloadError } from './errors.ts';
import { RETRY_AFTER_MAX_MS } from './limits.ts';
import { createPacer, HeldBackError, type Pacer, type Pause } from './pace.ts';
import { createRequester, type ReadOptions, type Requester, type RequesterOptions } from './request.ts';
import type { Answer, ResponseHeaders } from './response.ts';
import { PatientCall, type RetryPolicy, repeatAttempts } from './retry.ts';

export type { Retry } from './retry.ts';

/** Options of {@link createTransport}. */
export interface TransportOptions
  extends RetryPolicy,
    Omit<RequesterOptions, 'connections' | 'timeoutMs' | 'proxy' | 'clock'> {
  /** What the error of a refused credential says besides, for the words of its remedy. @default {} */
  readonly credentialFacts?: Facts;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** Maximum number of requests that begin in any 60 seconds; null for no limit. */
  readonly maxRequestsPerMinute: number | null;
  /** Maximum number of all requests, including retries and redirects. @default null, no limit */
  readonly maxRequests?: number | null;
  /** The proxy to other machines. @default null, no proxy */
  readonly proxy?: ProxyOptions | null;
  /** Time limit of one attempt in milliseconds, from its start to the last byte. */
  readonly requestTimeoutMs: number;
  /** Waits for hosts that do not answer. What creates something never waits. @default none */
  readonly patience?: Patience | undefined;
  /** Cheap requests that show whether a host answers, at most a few for each. @default only the request that failed */
  readonly probes?: readonly ApiRequest[];
  /** Ends every call, beside the signal of each. @default none */
  readonly signal?: AbortSignal | undefined;
  /** Called when a request begins. @default does nothing */
  readonly onRequest?: ((request: RequestStart) => void) | undefined;
  /** Called when status and headers of a response arrive. @default does nothing */
  readonly onResponse?: ((response: ResponseStart) => void) | undefined;
}

/** A request that begins. Each attempt is one, and each redirect that is followed. */
export interface RequestStart {
  /** Method, path and query, as errors name the request. */
  readonly target: string;
  /** The URL that is requested. */
  readonly url: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** A response whose body is still to come. */
export interface ResponseStart extends RequestStart {
  readonly status: number;
  /** Without the key, if the service repeats it. */
  readonly headers: ResponseHeaders;
  /** The service's name for the request; undefined if the response does not name it. */
  readonly requestId: string | undefined;
  /** Milliseconds since the request began. */
  readonly durationMs: number;
}

/** Counts a caller's requests and retries. */
export interface Meter {
  requests: number;
  retries: number;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call. */
  readonly signal: AbortSignal;
  /** Counts the requests of this call too. */
  readonly meter?: Meter;
  /** Time limit of one attempt in milliseconds. @default that of the transport */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of attempts. @default that of the transport */
  readonly attempts?: number | undefined;
  /** Further headers; those of the transport win. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Sends requests at the right pace, repeats failed ones if that can help, and counts them. */
export interface Transport {
  /**
   * The answer to a request, after as many attempts as the options allow.
   * @throws the error of the last attempt. @throws {LongWaitError} when the service asks for a wait of more than 15 minutes.
   */
  get(request: ApiRequest, call: CallOptions): Promise<Answer>;
  /**
   * The answer to a POST that creates something. It is repeated only if the service provably did not carry it out: the
   * request never arrived, or the service answered 429.
   * @throws {UnknownOutcomeError} when the thing was or may have been created.
   */
  create(request: ApiRequest, creation: Creation, call: CallOptions): Promise<Answer>;
  /** All requests sent so far. */
  readonly totals: Readonly<Meter>;
  /** The number of responses so far by their status, redirects included. A request without a response is not counted. */
  readonly responses: ReadonlyMap<number, number>;
  /** Closes the connections and rejects calls that are still open or begin later. May be repeated. */
  close(): Promise<void>;
}

/**
 * A transport over HTTP.
 *
 * @example
 * const transport = createTransport({ apiKey, userAgent, concurrency: 8, maxRequestsPerMinute: null, … });
 * const { body } = await transport.get({ origin, path: '/api/v1/analytics/tokens', query: {} }, { signal });
 */
export function createTransport(options: TransportOptions): Transport {
  const requester = createRequester({
    ...options,
    connections: options.concurrency,
    timeoutMs: options.requestTimeoutMs,
    proxy: options.proxy ?? null,
  });
  const pacer = createPacer({ ...options, pauseOf });
  const totals: Meter = { requests: 0, retries: 0 };
  const responses = new Map<number, number>();
  const closing = new AbortController();
  const end = linkOf(closing.signal, ...(options.signal === undefined ? [] : [options.signal]));
  const link = signalLinker(end.signal);

  const send: Transport['get'] = async (request, call) => {
    const linked = link(call.signal);
    const meters = call.meter === undefined ? [totals] : [totals, call.meter];
    const { attempts = options.attempts, timeoutMs, headers } = call;
    const own = { signal: linked.signal, timeoutMs, headers };
    let attemptNumber = 0;
    const send = (target: ApiRequest, probe?: { readonly timeoutMs: number }) => {
      attemptNumber += 1;
      const watch = watchOf(target, attemptNumber, { ...options, responses });
      const parts = { requester, pacer, meters, patient, ...own, ...watch };
      return probe === undefined ? sendOnce(target, parts) : sendProbe(target, { ...parts, ...probe });
    };
    const patient = patientOf(request, { ...options, pacer, signal: linked.signal, send });
    const again = () => {
      for (const each of meters) each.retries += 1;
      return send(request);
    };
    const round = (attemptsMax: number) => {
      const first = attemptNumber === 0 ? send(request) : again();
      // The retry library costs as much as a request, so it is used only after a failure.
      return first.catch(() =>
        repeatAttempts(first, again, {
          ...options,
          attempts: Math.min(attempts, attemptsMax),
          signal: linked.signal,
        }),
      );
    };
    try {
      return await (patient === undefined ? round(attempts) : patient.endure(round));
    } catch (error) {
      if (error instanceof CredentialError) Object.assign(error, { facts: options.credentialFacts ?? {} });
      throw error;
    } finally {
      linked.unlink();
    }
  };

  return {
    totals,
    responses,
    get: send,
    create: (request, creation, call) => send({ ...request, creation }, call),
    close: () => {
      closing.abort(
        new UsageError('the client was closed', { hint: 'await the calls of a client before you close it' }),
      );
      end.unlink();
      return requester.close();
    },
  };
}

/** Counts the responses of an attempt, and reports its requests and responses to the callbacks. */
function watchOf(
  request: ApiRequest,
  attempt: number,
  {
    responses,
    onRequest,
    onResponse,
    clock,
  }: Pick<TransportOptions, 'onRequest' | 'onResponse' | 'clock'> & {
    readonly responses: Map<number, number>;
  },
): Pick<ReadOptions, 'onStart' | 'onHead'> {
  const count = (status: number) => void responses.set(status, (responses.get(status) ?? 0) + 1);
  if (onRequest === undefined && onResponse === undefined) return { onHead: ({ status }) => count(status) };
  const target = nameOf(request, queryOf(request));
  let [url, startedMs] = ['', 0];
  return {
    onStart: (started) => {
      [url, startedMs] = [started, clock.monotonicMs()];
      onRequest?.({ target, url, attempt });
    },
    onHead: ({ status, requestId, headers }) => {
      count(status);
      const durationMs = clock.monotonicMs() - startedMs;
      onResponse?.({ target, url, attempt, status, headers: headers(), requestId, durationMs });
    },
  };
}

function patientOf(
  request: ApiRequest,
  {
    patience,
    probes = [],
    clock,
    pacer,
    signal,
    requestTimeoutMs,
    send,
  }: Pick<TransportOptions, 'patience' | 'probes' | 'clock' | 'requestTimeoutMs'> & {
    readonly pacer: Pacer;
    readonly signal: AbortSignal;
    readonly send: (target: ApiRequest, how: { readonly timeoutMs: number }) => Promise<Answer>;
  },
): PatientCall | undefined {
  if (patience === undefined || request.creation !== undefined) return undefined;
  return new PatientCall({
    ...{ patience, request, signal, probes },
    monotonicMs: () => clock.monotonicMs(),
    untilTurnMs: () => pacer.untilTurnMs(),
    sendProbe: (target, leftMs) => send(target, { timeoutMs: Math.min(leftMs, requestTimeoutMs) }),
  });
}

interface Sending extends Omit<ReadOptions, 'beforeHop'> {
  readonly requester: Requester;
  readonly pacer: Pacer;
  readonly meters: readonly Meter[];
  readonly patient: PatientCall | undefined;
}

/** One attempt, in its turn, which comes after a wait for the host. */
async function sendOnce(request: ApiRequest, sending: Sending): Promise<Answer> {
  const { pacer, patient, signal } = sending;
  const send = () => sendCounted(request, sending);
  if (patient === undefined) return pacer.run(send, signal);
  for (;;) {
    await patient.pass();
    try {
      return await pacer.run(
        () => patient.record(send),
        signal,
        () => patient.isHeld,
      );
    } catch (error) {
      if (!(error instanceof HeldBackError)) throw error;
    }
  }
}

/** A probe has its turn before the requests that wait for its outcome. */
async function sendProbe(request: ApiRequest, sending: Sending): Promise<Answer> {
  await sending.pacer.turn(sending.signal);
  return sendCounted(request, sending);
}

/** Sends a request and counts it. A redirect is one more request. */
function sendCounted(
  request: ApiRequest,
  { requester, pacer, meters, patient: _, ...attempt }: Sending,
): Promise<Answer> {
  const count = () => {
    for (const meter of meters) meter.requests += 1;
  };
  const beforeHop = async () => {
    await pacer.turn(attempt.signal);
    count();
  };
  count();
  return requester.send(request, { ...attempt, beforeHop });
}

function pauseOf(error: unknown): Pause | undefined {
  if (!(error instanceof OverloadError)) return undefined;
  const { retryAfterMs = 0 } = error;
  return {
    // A longer wait ends the run, so there is nothing to hold back.
    pauseMs: retryAfterMs > RETRY_AFTER_MAX_MS ? 0 : retryAfterMs,
    cause: error.status === 429 || error.retryAfterMs !== undefined ? 'limit' : 'overload',
  };
}

/** A signal that aborts when the caller's signal or the common end signal does. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners. Call it once after each call, also after a failed one. */
  unlink(): void;
}

interface Link {
  readonly signal: AbortSignal;
  /** Number of open calls that use it. */
  calls: number;
  unlink(): void;
}

/**
 * Links the signals of callers with `end`. Open calls with the same signal, such as those of one run, share a link.
 * AbortSignal.any would keep every call in memory until the run ends.
 */
function signalLinker(end: AbortSignal): (signal: AbortSignal) => LinkedSignal {
  const links = new Map<AbortSignal, Link>();
  return (signal) => {
    const link = links.get(signal) ?? linkOf(signal, end);
    links.set(signal, link);
    link.calls += 1;
    const unlink = () => {
      link.calls -= 1;
      if (link.calls > 0) return;
      links.delete(signal);
      link.unlink();
    };
    return { signal: link.signal, unlink };
  };
}

function linkOf(...signals: readonly AbortSignal[]): Link {
  const control = new AbortController();
  const listeners = signals.map((signal) => {
    const listener = () => control.abort(signal.reason);
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
    return { signal, listener };
  });
  // Every request in flight listens; Node would report a leak.
  setMaxListeners(0, control.signal, ...signals);
  return {
    signal: control.signal,
    calls: 0,
    unlink: () => {
      for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener);
    },
  };
}
