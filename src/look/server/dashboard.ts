import { lookup } from 'node:dns/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { formatListenAddress, isLoopback, type ListenAddress } from '../../core/listen-address.ts';
import { createApp } from './app.ts';
import { hostCheck } from './host-header.ts';
import { createLogin, LOGOUT_PATH } from './login.ts';
import { createPageSource, type PageSourceOptions } from './page-source.ts';
import { keepPagesReady } from './warm.ts';

/** How to serve a warehouse. */
export interface DashboardOptions extends PageSourceOptions {
  readonly clock: Clock;
  readonly listen: ListenAddress;
  /** Further names in Host headers, each with a port or for every port. */
  readonly allowedHosts: readonly string[];
  /** Make the pages of the navigation before people ask for them. */
  readonly keepsReady: boolean;
  /** What people log in with; null for none, which only loopback addresses may have. */
  readonly token: string | null;
}

/** A dashboard that listens. */
export interface Dashboard {
  readonly url: string;
  /** Stops listening, gives requests in progress a moment, and ends every connection. */
  close(): Promise<void>;
}

/** Limits of a connection. A browser needs a fraction of each. */
const SERVER_LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
} as const;
const CONNECTIONS_MAX = 256;
/** How long requests in progress may take after the end was asked for. */
const CLOSE_MS = 400;

/**
 * Serves the pages of a warehouse.
 * @throws {UsageError} if a token is needed and there is none, or if the name cannot be resolved.
 * @throws {Error} with the code of the operating system if the address cannot be used.
 */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { listen, allowedHosts, token, clock, hintOf, report } = options;
  await requireToken(options);
  const pages = createPageSource({ ...options, logout: token === null ? undefined : LOGOUT_PATH });
  const server = createServer(SERVER_LIMITS);
  server.maxConnections = CONNECTIONS_MAX;
  const port = await listening(server, listen);
  const own = { host: listen.host, port };
  const app = createApp({
    pages,
    login: token === null ? null : createLogin(token, clock, port),
    answersTo: hostCheck(own, allowedHosts),
    hintOf,
    report,
  });
  server.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const stopping = new AbortController();
  const warm = options.keepsReady
    ? keepPagesReady({ warehouse: options.warehouse, pages, clock, signal: stopping.signal })
    : undefined;
  return {
    url: `http://${formatListenAddress(own)}`,
    close: async () => {
      stopping.abort();
      await closed(server, clock);
      await warm;
    },
  };
}

/** Everybody who can reach the port could read the pages. */
async function requireToken({ listen: { host }, token }: DashboardOptions): Promise<void> {
  if (token !== null) return;
  const addresses = await lookup(host, { all: true }).catch((error: unknown) => {
    throw new UsageError(`listen on ${host}: the name cannot be resolved`, {
      cause: error,
      hint: 'give an address of this machine',
    });
  });
  if (addresses.every(({ address }) => isLoopback(address))) return;
  throw new UsageError(`the dashboard is to listen on ${host}, beyond this machine, and has no token`, {
    hint: 'set a token, or listen on a loopback address',
    reason: 'dashboard-needs-token',
  });
}

function listening(server: Server, { host, port }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve(portOf(server.address()));
    });
  });
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('the server listens on no port');
  return address.port;
}

async function closed(server: Server, clock: Clock): Promise<void> {
  const end = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await Promise.race([end, clock.sleep(CLOSE_MS)]);
  server.closeAllConnections();
  await end;
}
