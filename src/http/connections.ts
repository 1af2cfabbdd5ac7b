// Imports only the two parts of undici that are needed. Its index also loads fetch, caches and sockets of all kinds, which
// takes longer than the first answer.
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { isLoopbackHost } from '../core/addresses.ts';

/** The proxy that requests to other machines go through. */
export interface ProxyOptions {
  /** http or https URL, with user and password if the proxy needs them. */
  readonly url: string;
  /** Hosts that are reached directly, separated by commas; `*` for all. */
  readonly noProxy: string;
}

interface ConnectionOptions {
  /** Milliseconds for each step of a request. The caller limits its whole time. */
  readonly timeoutMs: number;
  /** Null to reach every origin directly. Loopback hosts always are. */
  readonly proxy: ProxyOptions | null;
  /** Sends the requests in place of own connections. @default null */
  readonly dispatcher?: RequestDispatcher | null;
}

/** A request to the origin of the connections. */
interface Dispatched {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Milliseconds without a header; 0 for no limit, because the caller has its own. */
  readonly headersTimeout: 0;
  /** Milliseconds without a byte of the body; 0 for no limit. */
  readonly bodyTimeout: 0;
}

/** The part of a running request that ends it. */
export interface RequestController {
  abort(reason: Error): void;
}

/** What a {@link RequestDispatcher} calls during a request, in this order. */
export interface ResponseHandler {
  onRequestStart(controller: RequestController, context: unknown): void;
  onResponseStart(
    controller: RequestController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void;
  onResponseData(controller: RequestController, chunk: Uint8Array): void;
  onResponseEnd(controller: RequestController, trailers: unknown): void;
  onResponseError(controller: RequestController, error: Error): void;
}

/** Sends requests: every dispatcher of undici 7 or newer, such as `Agent` and `MockAgent`. */
export interface RequestDispatcher {
  dispatch(request: Dispatched & { readonly origin: string }, handler: ResponseHandler): boolean;
}

/** Sends requests to one origin. It follows no redirect and reads no environment variable. */
export interface Connections {
  dispatch(request: Dispatched, handler: ResponseHandler): boolean;
  destroy(): Promise<void>;
}

/** Connections of a given dispatcher. It stays open, because its owner may use it for more. */
function connectionsOf(origin: string, dispatcher: RequestDispatcher): Connections {
  return {
    // A copy, because a dispatcher may add to the headers, which all requests share.
    dispatch: (request, handler) =>
      dispatcher.dispatch({ ...request, origin, headers: { ...request.headers } }, handler),
    destroy: async () => undefined,
  };
}

/** Keeps at most `connections` connections to an origin. */
export async function openPool(
  origin: string,
  options: ConnectionOptions & { readonly connections: number },
): Promise<Connections> {
  if (options.dispatcher) return connectionsOf(origin, options.dispatcher);
  return (
    (await openTunnels(origin, options)) ??
    new Pool(origin, { ...limits(options), connections: options.connections })
  );
}

/** Opens one new connection to an origin. A given dispatcher may use one that it keeps. */
export async function openConnection(origin: string, options: ConnectionOptions): Promise<Connections> {
  if (options.dispatcher) return connectionsOf(origin, options.dispatcher);
  return (await openTunnels(origin, { ...options, connections: 1 })) ?? new Client(origin, limits(options));
}

/** The proxy for an origin; null for a loopback host. `noProxy` is not considered. */
export function proxyFor(origin: string, proxy: ProxyOptions | null): ProxyOptions | null {
  return isLoopbackHost(new URL(origin).hostname) ? null : proxy;
}

/** Tunnels through the proxy (CONNECT), so that it sees neither key nor data; undefined without a proxy. */
async function openTunnels(
  origin: string,
  { timeoutMs, connections, ...options }: ConnectionOptions & { readonly connections: number },
): Promise<Connections | undefined> {
  const proxy = proxyFor(origin, options.proxy);
  if (proxy === null) return undefined;
  const EnvHttpProxyAgent = await loadProxyAgent();
  const { connect, ...timeouts } = limits({ timeoutMs });
  const agent = new EnvHttpProxyAgent({
    ...timeouts,
    connect,
    connections,
    // Always given, because undici reads missing ones from the environment.
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.noProxy,
    requestTls: connect,
    proxyTls: connect,
    clientFactory: (url, given) => new Pool(url, { ...given, ...timeouts }),
  });
  return { ...connectionsOf(origin, agent), destroy: () => agent.destroy() };
}

/** HTTP/1.1 only: the limits of bytes and of requests in flight count its connections. */
function limits({ timeoutMs }: { readonly timeoutMs: number }) {
  const connect = { timeout: timeoutMs, allowH2: false };
  return { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, allowH2: false, connect };
}

/** Loads the agent that tunnels through a proxy. Its CONNECT needs undici's index, so it is loaded only for a proxy. */
async function loadProxyAgent() {
  return (await import('undici')).default.EnvHttpProxyAgent;
}
