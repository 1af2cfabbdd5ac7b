import type { Dispatcher } from 'undici';
import { isLoopback } from '../origin.ts';
import { Client, loadProxyAgent, Pool } from './undici.ts';

/** The proxy that requests to other machines go through. */
export interface ProxyOptions {
  /** http or https URL, with user and password where the proxy wants them. */
  readonly url: string;
  /** Hosts that are reached without it, as `NO_PROXY` lists them; `*` for all. */
  readonly noProxy: string;
}

/** How origins are connected to. */
export interface ConnectionOptions {
  /** Milliseconds for each step of a request; its whole time is the caller's to watch. */
  readonly timeoutMs: number;
  /** Null where every origin is reached directly. Loopback hosts always are. */
  readonly proxy: ProxyOptions | null;
}

/** What is dispatched: the origin is that of the connections. */
export interface Dispatched {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** What sends requests to one origin. It follows no redirect and reads no environment. */
export interface Connections {
  dispatch(request: Dispatched, handler: Dispatcher.DispatchHandler): boolean;
  destroy(): Promise<void>;
}

/** Connections to an origin that are kept and used again, so many at most. */
export async function openPool(
  origin: string,
  options: ConnectionOptions & { readonly connections: number },
): Promise<Connections> {
  return (
    (await openTunnels(origin, options)) ??
    new Pool(origin, { ...limits(options), connections: options.connections })
  );
}

/** One connection to an origin, which nobody has used before. */
export async function openConnection(origin: string, options: ConnectionOptions): Promise<Connections> {
  return (await openTunnels(origin, { ...options, connections: 1 })) ?? new Client(origin, limits(options));
}

/** The proxy of an origin, where its host is not in `noProxy`; null for a loopback host. */
export function proxyFor(origin: string, proxy: ProxyOptions | null): ProxyOptions | null {
  return isLoopback(new URL(origin).hostname) ? null : proxy;
}

/** Tunnels through the proxy (CONNECT), so that it sees neither the key nor the answers; undefined where none is used. */
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
    // Given in any case: what is not given would be looked up in the environment.
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.noProxy,
    requestTls: connect,
    proxyTls: connect,
    clientFactory: (url, given) => new Pool(url, { ...given, ...timeouts }),
  });
  return {
    // The agent adds to the headers, and those belong to all requests.
    dispatch: (request, handler) =>
      agent.dispatch({ ...request, origin, headers: { ...request.headers } }, handler),
    destroy: () => agent.destroy(),
  };
}

function limits({ timeoutMs }: { readonly timeoutMs: number }) {
  return { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: { timeout: timeoutMs } };
}
