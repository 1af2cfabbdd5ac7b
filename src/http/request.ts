import type { Clock } from '../core/clock.ts';
import { messageOf, RunError, StoppedError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import {
  type ApiRequest,
  type Cancellation,
  type Creation,
  deadlineOf,
  nameOf,
  queryOf,
  type SplitOrigin,
  splitOrigin,
} from './api-request.ts';
import { type Connections, openConnection, openPool, type ProxyOptions, proxyFor } from './connections.ts';
import { ApiError, RequestError, UnknownOutcomeError } from './errors.ts';
import { exchange, type HttpResponse, headerOf } from './exchange.ts';
import { explain } from './explain.ts';
import { REDIRECTS_MAX } from './limits.ts';
import { type Answer, type AnswerReader, answerReader } from './response.ts';

export type { ApiRequest, Creation } from './api-request.ts';
export type { Answer } from './response.ts';

/** Options of one attempt. */
export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** Awaited before a redirect is followed: it is one more request. */
  readonly beforeHop: () => Promise<void>;
  /** Called when the status of a response arrives, also that of a redirect. @default does nothing */
  readonly onStatus?: (status: number) => void;
  /** Time limit of this attempt in milliseconds. @default that of the requester */
  readonly timeoutMs?: number | undefined;
  /** Further headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Sends requests: a GET over kept connections, a creation over a new one. */
export interface Requester {
  /**
   * Makes one attempt. The time-out covers it from the start to the last byte, and begins again with each redirect.
   * @throws {RequestError} no usable answer. @throws {ApiError} an error status. @throws {RunError} a redirect to
   * another origin, or a certificate that is not trusted.
   */
  send(request: ApiRequest, options: AttemptOptions): Promise<Answer>;
  close(): Promise<void>;
}

/** Options of {@link createRequester}. */
export interface RequesterOptions {
  readonly apiKey: string;
  /** Credential of the application host. @default apiKey */
  readonly appApiKey?: string | null;
  readonly userAgent: string;
  /** Maximum number of connections per origin. */
  readonly connections: number;
  readonly timeoutMs: number;
  readonly proxy: ProxyOptions | null;
  readonly clock: Clock;
}

/** A requester over undici pools, one per origin. */
export function createRequester(options: RequesterOptions): Requester {
  const { apiKey, appApiKey, userAgent, proxy } = options;
  const pools = new Map<string, Promise<Connections>>();
  const answerOf = answerReader(options);
  const headersWith = (key: string) => ({
    accept: 'application/json',
    'accept-encoding': 'gzip',
    authorization: `Bearer ${key}`,
    'user-agent': userAgent,
  });
  const headers = headersWith(apiKey);
  const appHeaders = headersWith(appApiKey ?? apiKey);
  const create = creator({ timeoutMs: options.timeoutMs, proxy, headers, answerOf });
  const read = reader({
    answerOf,
    poolOf: (origin) => {
      const pool = pools.get(origin) ?? openPool(origin, options);
      pools.set(origin, pool);
      return pool;
    },
  });

  async function get(
    request: ApiRequest,
    { signal, beforeHop, onStatus, timeoutMs = options.timeoutMs, headers: further }: AttemptOptions,
  ): Promise<Answer> {
    const own = request.credential === 'application' ? appHeaders : headers;
    const deadline = deadlineOf(timeoutMs, signal);
    const query = queryOf(request);
    const name = nameOf(request, query);
    try {
      return await read(request, {
        query,
        name,
        headers: further === undefined ? own : { ...further, ...own },
        cancellation: deadline,
        beforeHop: () => deadline.suspendedFor(beforeHop),
        ...(onStatus && { onStatus }),
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const used = proxyFor(request.origin, proxy);
      throw explain(error, { name, timeoutMs, expired: deadline.expired(), proxy: used });
    } finally {
      deadline.clear();
    }
  }

  return {
    send: (request, attempt) =>
      request.creation === undefined ? get(request, attempt) : create(request, request.creation, attempt),
    close: async () => {
      const opened = await Promise.allSettled(pools.values());
      await Promise.all(
        opened.map((pool) => (pool.status === 'fulfilled' ? pool.value.destroy() : undefined)),
      );
      pools.clear();
    },
  };
}

interface Read {
  readonly query: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  readonly beforeHop: () => Promise<void>;
  readonly onStatus?: (status: number) => void;
}

/** Reads with GET. Paths that the server has moved permanently are requested at their new place from then on. */
function reader({
  answerOf,
  poolOf,
}: {
  readonly answerOf: AnswerReader;
  readonly poolOf: (origin: string) => Promise<Connections>;
}): (request: ApiRequest, read: Read) => Promise<Answer> {
  // Kept, because parsing a URL takes longer than the rest of a request's preparation.
  const origins = new Map<string, SplitOrigin>();
  const moved = new Map<string, string>();
  return async (request, read) => {
    const known = origins.get(request.origin) ?? splitOrigin(request.origin);
    origins.set(request.origin, known);
    const { origin, prefix } = known;
    const from = `${origin}${prefix}${request.path}`;
    const newPath = moved.get(from);
    try {
      const path = newPath ?? prefix + request.path;
      const { response, movedTo } = await followRedirects(await poolOf(origin), { ...read, origin, path });
      const answer = answerOf(response, read.name, 'read');
      // Later requests go there directly, but only once the new place has answered.
      if (movedTo !== undefined) moved.set(from, movedTo);
      return answer;
    } catch (error) {
      if (newPath !== undefined) moved.delete(from);
      throw error;
    }
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const PERMANENT: ReadonlySet<number> = new Set([301, 308]);

/** A GET that may be redirected. */
interface RedirectableRequest {
  readonly origin: string;
  readonly path: string;
  /** From its question mark on. */
  readonly query: string;
  /** Method, path and query, for messages. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  /** Awaited before each redirect is followed. */
  readonly beforeHop: () => Promise<void>;
  /** Called with the status of each response. @default does nothing */
  readonly onStatus?: (status: number) => void;
}

/**
 * Sends a GET and follows its redirects on the same origin. `movedTo` is the path that the server named as permanent.
 * @throws {RequestError} for more than {@link REDIRECTS_MAX} redirects, or one without a usable location.
 * @throws {RunError} for a redirect to another origin: the key is not sent there, and no data from there is trusted.
 */
async function followRedirects(
  connections: Connections,
  { origin, path: start, query, name, headers, cancellation, beforeHop, onStatus }: RedirectableRequest,
): Promise<{ readonly response: HttpResponse; readonly movedTo: string | undefined }> {
  let path = start + query;
  let movedTo: string | undefined;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    if (redirects > 0) await beforeHop();
    const response = await exchange(connections, {
      ...{ method: 'GET', path, headers, cancellation },
      ...(onStatus && { onStatus }),
    });
    if (!REDIRECTS.has(response.status)) return { response, movedTo };
    const next = locationOf(response, new URL(path, origin), name);
    const keepsQuery = next.search === '' || next.search === query;
    movedTo = PERMANENT.has(response.status) && keepsQuery ? next.pathname : undefined;
    path = next.pathname + (next.search === '' ? query : next.search);
  }
  throw new RequestError(`${name} was redirected more than ${REDIRECTS_MAX} times`, {
    target: name,
    effect: 'unit',
  });
}

function locationOf({ headers }: HttpResponse, from: URL, name: string): URL {
  const location = headerOf(headers, 'location') ?? '';
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (url === undefined || location === '') {
    throw new RequestError(`${name} was redirected to nowhere`, { target: name, effect: 'unit' });
  }
  if (url.origin !== from.origin) {
    throw new RunError(`${name} was redirected to another origin, ${url.origin}; not followed`, {
      hint: 'if the service has moved there, change the URL of its host',
      reason: 'moved-away',
    });
  }
  return url;
}

/** Options of {@link creator}. */
interface CreatorOptions {
  /** Milliseconds from the start to the last byte. */
  readonly timeoutMs: number;
  readonly proxy: ProxyOptions | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly answerOf: AnswerReader;
}

/** Sends a creation once. */
type Creator = (
  request: ApiRequest,
  creation: Creation,
  options: Pick<AttemptOptions, 'signal' | 'onStatus' | 'timeoutMs' | 'headers'>,
) => Promise<Answer>;

interface Progress {
  /** True from just before the first byte of the request is handed to the connection. */
  isSent: boolean;
  /** Status of the response, once it is there. */
  status?: number;
}

const CREATED = 201;

/**
 * Statuses of a request that was not carried out. 408 and 425 are not among them: a proxy may send them for a request
 * that the service behind it has received.
 */
const isRefusal = (status: number) => status >= 400 && status < 500 && status !== 408 && status !== 425;

/**
 * A sender of creations. An error with the effect `retry` means that the service provably did not carry out the request:
 * nothing was sent, or it answered 429. Redirects are not followed.
 */
function creator({ proxy, headers, answerOf, ...options }: CreatorOptions): Creator {
  return async (
    request,
    creation,
    { signal, onStatus, timeoutMs = options.timeoutMs, headers: further = {} },
  ) => {
    const query = queryOf(request);
    const name = nameOf(request, query);
    const { origin, prefix } = splitOrigin(request.origin);
    const deadline = deadlineOf(timeoutMs, signal);
    const progress: Progress = { isSent: false };
    // A new connection: the server may be closing a kept one, and then nothing shows whether the request arrived.
    const connection = await openConnection(origin, { timeoutMs, proxy });
    try {
      const response = await exchange(connection, {
        method: 'POST',
        path: `${prefix}${request.path}${query}`,
        headers: { ...further, ...headers, 'content-type': 'application/json' },
        body: creation.json,
        cancellation: deadline,
        onStart: () => {
          progress.isSent = true;
        },
        onStatus: (status) => {
          progress.status = status;
          onStatus?.(status);
        },
      });
      return answerOf(response, name, 'creation');
    } catch (error) {
      const used = proxyFor(origin, proxy);
      const why = signal.aborted
        ? signal.reason
        : explain(error, { name, timeoutMs, expired: deadline.expired(), proxy: used });
      throw isSettled(why, progress) ? why : unknownOutcome(why, { name, creation, progress });
    } finally {
      deadline.clear();
      await connection.destroy();
    }
  };
}

/** True when it is certain that nothing was created. */
function isSettled(why: unknown, { isSent }: Progress): boolean {
  return !isSent || (why instanceof ApiError && isRefusal(why.status));
}

function unknownOutcome(
  why: unknown,
  { name, creation: { creates }, progress }: { name: string; creation: Creation; progress: Progress },
): UnknownOutcomeError {
  const isCreated = progress.status === CREATED;
  const what = isCreated ? `${creates} was created` : `${creates} may have been created`;
  const api = why instanceof ApiError ? why : undefined;
  return new UnknownOutcomeError(`${messageOf(why)}; ${what}: check before trying again`, {
    cause: why,
    target: name,
    outcome: isCreated ? 'created' : 'unknown',
    status: progress.status,
    ...(api !== undefined && { problem: api.problem, requestId: api.requestId }),
    exitCode: why instanceof StoppedError ? why.exitCode : EXIT.upstream,
    hint: `look into the application for it; trying again may create ${creates} a second time`,
  });
}
