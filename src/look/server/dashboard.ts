import { lookup } from 'node:dns/promises';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { isLoopback, type ListenAddress } from '../../core/listen-address.ts';
import { type ConnectionLimits, listen } from '../../core/web-server.ts';
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
  /** Replaces limits of its connections. */
  readonly limits?: ConnectionLimits;
}

/** A dashboard that listens. */
export interface Dashboard {
  readonly url: string;
  /** Stops listening, gives requests in progress a moment, and ends every connection. */
  close(): Promise<void>;
}

/**
 * Serves the pages of a warehouse.
 * @throws {UsageError} if a token is needed and there is none, or if the address cannot be used.
 */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { allowedHosts, token, clock, hintOf, report } = options;
  await requireToken(options);
  const pages = createPageSource({ ...options, logout: token === null ? undefined : LOGOUT_PATH });
  const server = await listen(options.listen, clock, options.limits);
  const app = createApp({
    pages,
    login: token === null ? null : createLogin(token, clock, server.address.port),
    answersTo: hostCheck(server.address, allowedHosts),
    hintOf,
    report,
  });
  server.handle(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const stopping = new AbortController();
  const warm = options.keepsReady
    ? keepPagesReady({ warehouse: options.warehouse, pages, clock, signal: stopping.signal })
    : undefined;
  return {
    url: server.url,
    close: async () => {
      stopping.abort();
      await server.close();
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
