import type { Clock } from '../core/clock.ts';
import { RunError } from '../core/errors.ts';
import {
  type ApiRequest,
  type Cancellation,
  deadlineOf,
  nameOf,
  queryOf,
  type SplitOrigin,
  splitOrigin,
} from './api-request.ts';
import {
  type Connections,
  openPool,
  type ProxyOptions,
  proxyFor,
  type RequestDispatcher,
} from './connections.ts';
import { type AttemptOptions, creator } from './creation.ts';
import { RequestError } from './errors.ts';
import { exchange, type HttpResponse, headerOf } from './exchange.ts';
import { explain } from './explain.ts';
import { REDIRECTS_MAX } from './limits.ts';
import {
  type Answer,
  type AnswerReader,
  answerReader,
  type HeadReader,
  headReader,
  type Passage,
  type ResponseHead,
  withoutKeys,
} from './response.ts';

/** Options of one attempt, also of one that reads. */
export interface ReadOptions extends AttemptOptions {
  /** Awaited before a redirect is followed: it is one more request. */
  readonly beforeHop: () => Promise<void>;
}

/** Sends requests: a GET over kept connections, a creation over a new one. */
export interface Requester {
  /**
   * Makes one attempt. The time-out covers it from the start to the last byte, and begins again with each redirect.
   * @throws {RequestError} no usable answer. @throws {ApiError} an error status. @throws {RunError} a redirect to
   * another origin, or a certificate that is not trusted.
   */
  send(request: ApiRequest, options: ReadOptions): Promise<Answer>;
  close(): Promise<void>;
}

/** Options of {@link createRequester}. */
export interface RequesterOptions {
  /** Bearer credential. */
  readonly apiKey: string;
  /** Bearer credential of the application host. @default apiKey */
  readonly appApiKey?: string | null;
  readonly userAgent: string;
  /** Maximum number of connections per origin. */
  readonly connections: number;
  readonly timeoutMs: number;
  readonly proxy: ProxyOptions | null;
  /** Sends the requests in place of own connections. @default null */
  readonly dispatcher?: RequestDispatcher | null;
  /** What the service sends goes through it before anything else sees it. @default only the keys are removed */
  readonly passage?: Passage | undefined;
  readonly clock: Clock;
}

/** A requester over undici pools, one per origin. */
export function createRequester(options: RequesterOptions): Requester {
  const { apiKey, appApiKey, userAgent, proxy, dispatcher = null, clock } = options;
  const pools = new Map<string, Promise<Connections>>();
  const passage = withoutKeys([apiKey, appApiKey ?? apiKey], options.passage);
  const readers = { answerOf: answerReader({ passage, clock }), headOf: headReader(passage) };
  const headersWith = (key: string) => ({
    accept: 'application/json',
    'accept-encoding': 'gzip',
    authorization: `Bearer ${key}`,
    'user-agent': userAgent,
  });
  const headers = headersWith(apiKey);
  const appHeaders = headersWith(appApiKey ?? apiKey);
  const create = creator({ timeoutMs: options.timeoutMs, proxy, dispatcher, headers, ...readers });
  const read = reader({
    ...{ ...readers, quote: (text) => passage.any(text) },
    poolOf: (origin) => {
      const pool = pools.get(origin) ?? openPool(origin, options);
      pools.set(origin, pool);
      return pool;
    },
  });

  async function get(
    request: ApiRequest,
    { signal, beforeHop, onStart, onHead, timeoutMs = options.timeoutMs, headers: further }: ReadOptions,
  ): Promise<Answer> {
    let requestId: string | undefined;
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
        onStart,
        onHead: (head) => {
          requestId = head.requestId;
          onHead?.(head);
        },
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const used = proxyFor(request.origin, proxy);
      throw explain(error, { name, timeoutMs, expired: deadline.expired(), proxy: used, requestId });
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

interface Readers {
  readonly answerOf: AnswerReader;
  readonly headOf: HeadReader;
}

type Read = Omit<RedirectableRequest, 'origin' | 'path' | 'headOf' | 'quote'>;

/** Reads with GET. Paths that the server has moved permanently are requested at their new place from then on. */
function reader({
  answerOf,
  headOf,
  quote,
  poolOf,
}: Readers &
  Pick<RedirectableRequest, 'quote'> & { readonly poolOf: (origin: string) => Promise<Connections> }): (
  request: ApiRequest,
  read: Read,
) => Promise<Answer> {
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
      const hops = { ...read, headOf, quote, origin, path };
      const { response, movedTo } = await followRedirects(await poolOf(origin), hops);
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
  readonly headOf: HeadReader;
  /** What a text of the service is in a message. */
  readonly quote: (text: string) => string;
  /** Called with the URL of each request when it begins. @default does nothing */
  readonly onStart?: ((url: string) => void) | undefined;
  /** Called with status and headers of each response. */
  readonly onHead: (head: ResponseHead) => void;
}

/**
 * Sends a GET and follows its redirects on the same origin. `movedTo` is the path that the server named as permanent.
 * @throws {RequestError} for more than {@link REDIRECTS_MAX} redirects, or one without a usable location.
 * @throws {RunError} for a redirect to another origin: the key is not sent there, and no data from there is trusted.
 */
async function followRedirects(
  connections: Connections,
  {
    origin,
    path: start,
    query,
    name,
    headers,
    cancellation,
    beforeHop,
    quote,
    ...watch
  }: RedirectableRequest,
): Promise<{ readonly response: HttpResponse; readonly movedTo: string | undefined }> {
  let path = start + query;
  let movedTo: string | undefined;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    if (redirects > 0) await beforeHop();
    const url = origin + path;
    const response = await exchange(connections, {
      ...{ method: 'GET', path, headers, cancellation },
      onStart: () => watch.onStart?.(url),
      onHead: (status, received) => watch.onHead(watch.headOf(status, received)),
    });
    if (!REDIRECTS.has(response.status)) return { response, movedTo };
    const next = locationOf(response, new URL(path, origin), { name, quote });
    const keepsQuery = next.search === '' || next.search === query;
    movedTo = PERMANENT.has(response.status) && keepsQuery ? next.pathname : undefined;
    path = next.pathname + (next.search === '' ? query : next.search);
  }
  throw new RequestError(`${name} was redirected more than ${REDIRECTS_MAX} times`, {
    target: name,
    effect: 'unit',
  });
}

function locationOf(
  { headers }: HttpResponse,
  from: URL,
  { name, quote }: Pick<RedirectableRequest, 'name' | 'quote'>,
): URL {
  const location = headerOf(headers, 'location') ?? '';
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (url === undefined || location === '') {
    throw new RequestError(`${name} was redirected to nowhere`, { target: name, effect: 'unit' });
  }
  if (url.origin !== from.origin) {
    throw new RunError(`${name} was redirected to another origin, ${quote(url.origin)}; not followed`, {
      target: name,
      hint: 'if the service has moved there, change the URL of its host',
      reason: 'moved-away',
    });
  }
  return url;
}
