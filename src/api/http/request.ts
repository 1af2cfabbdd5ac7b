import type { Clock } from '../../core/clock.ts';
import { RequestError } from '../errors.ts';
import { REDIRECTS_MAX } from '../limits.ts';
import { type Answer, answerReader } from '../response/answer.ts';
import { nameOf, type Place, placeOf, queryOf, type Target } from './api-request.ts';
import { type Connections, openPool, type ProxyOptions, proxyFor } from './connections.ts';
import { creator } from './creation.ts';
import { type Cancellation, deadlineOf } from './deadline.ts';
import { exchange } from './exchange.ts';
import { explain } from './explain.ts';
import { locationOf, PERMANENT, REDIRECTS } from './redirect.ts';

export type { Answer } from '../response/answer.ts';
export type { Creation, Target } from './api-request.ts';

/** What goes along with one attempt. */
export interface Call {
  readonly signal: AbortSignal;
  /** Awaited before a redirect is followed: it is one more request. */
  readonly beforeHop: () => Promise<void>;
}

interface Hops {
  readonly cancellation: Cancellation;
  readonly beforeHop: () => Promise<void>;
}

/** Sends one request at a time per call: a GET over kept connections, a creation over one of its own. */
export interface Requester {
  /**
   * One attempt: headers to last byte within the time-out, and again for each redirect.
   * @throws {RequestError} no usable answer. @throws {ApiError} an error status. @throws {RunError} a redirect to
   * another origin, or a certificate that is not trusted.
   */
  send(target: Target, call: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** What a requester needs to know. */
export interface RequesterOptions {
  readonly apiKey: string;
  /** Credential of the application host; the main one unless given. */
  readonly appApiKey?: string | null;
  readonly userAgent: string;
  readonly connections: number;
  readonly timeoutMs: number;
  readonly proxy: ProxyOptions | null;
  readonly clock: Clock;
}

/** A requester over undici pools, one per origin. */
export function createRequester(options: RequesterOptions): Requester {
  const pools = new Map<string, Promise<Connections>>();
  // Looked up, because taking a URL apart takes longer than the rest of a request's preparation.
  const places = new Map<string, Place>();
  // Paths that the server has moved for good; asked for at their new place from then on.
  const moved = new Map<string, string>();
  const answerOf = answerReader(options);
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    authorization: `Bearer ${options.apiKey}`,
    'user-agent': options.userAgent,
  };
  const appHeaders = { ...headers, authorization: `Bearer ${options.appApiKey ?? options.apiKey}` };
  const create = creator({ timeoutMs: options.timeoutMs, proxy: options.proxy, headers, answerOf });

  function poolOf(origin: string): Promise<Connections> {
    const pool = pools.get(origin) ?? openPool(origin, options);
    pools.set(origin, pool);
    return pool;
  }

  function knownPlaceOf(target: Target): Place {
    const place = places.get(target.origin) ?? placeOf(target);
    places.set(target.origin, place);
    return place;
  }

  async function send(target: Target, call: Call): Promise<Answer> {
    const deadline = deadlineOf(options.timeoutMs, call.signal);
    const query = queryOf(target);
    const name = nameOf(target, query);
    try {
      const beforeHop = () => deadline.suspendedFor(call.beforeHop);
      return await follow(target, { query, name }, { cancellation: deadline, beforeHop });
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      const proxy = proxyFor(target.origin, options.proxy);
      throw explain(error, { name, timeoutMs: options.timeoutMs, expired: deadline.expired(), proxy });
    } finally {
      deadline.clear();
    }
  }

  async function follow(
    target: Target,
    { query, name }: { query: string; name: string },
    hops: Hops,
  ): Promise<Answer> {
    const { origin, prefix } = knownPlaceOf(target);
    const from = `${origin}${prefix}${target.path}`;
    const known = moved.get(from);
    try {
      const start = (known ?? prefix + target.path) + query;
      const sent = target.credential === 'application' ? appHeaders : headers;
      const { answer, movedTo } = await hop({ origin, path: start, query, name, headers: sent }, hops);
      // Only a place that has proven to answer is asked directly from then on.
      if (movedTo !== undefined) moved.set(from, movedTo);
      return answer;
    } catch (error) {
      if (known !== undefined) moved.delete(from);
      throw error;
    }
  }

  /** Sends a request and follows where it is sent. `movedTo` is the place that the server named for good. */
  async function hop(
    start: {
      origin: string;
      path: string;
      query: string;
      name: string;
      headers: Readonly<Record<string, string>>;
    },
    { cancellation, beforeHop }: Hops,
  ): Promise<{ answer: Answer; movedTo: string | undefined }> {
    const { origin, query, name, headers } = start;
    let { path } = start;
    let movedTo: string | undefined;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      if (redirects > 0) await beforeHop();
      const reply = await exchange(await poolOf(origin), { method: 'GET', path, headers, cancellation });
      if (!REDIRECTS.has(reply.status)) return { answer: answerOf(reply, name, 'read'), movedTo };
      const next = locationOf(reply.headers, new URL(path, origin), name);
      const keepsQuery = next.search === '' || next.search === query;
      movedTo = PERMANENT.has(reply.status) && keepsQuery ? next.pathname : undefined;
      path = next.pathname + (next.search === '' ? query : next.search);
    }
    throw new RequestError(`${name} was redirected more than ${REDIRECTS_MAX} times`, {
      target: name,
      effect: 'unit',
    });
  }

  return {
    send: (target, call) =>
      target.creation === undefined ? send(target, call) : create(target, target.creation, call),
    close: async () => {
      const opened = await Promise.allSettled(pools.values());
      await Promise.all(
        opened.map((pool) => (pool.status === 'fulfilled' ? pool.value.destroy() : undefined)),
      );
      pools.clear();
    },
  };
}
