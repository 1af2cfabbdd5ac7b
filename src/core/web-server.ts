import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { formatListenAddress, type ListenAddress } from './addresses.ts';
import type { Clock } from './clock.ts';
import { UsageError } from './errors.ts';
import { hasCode } from './files.ts';

/** A server that listens. */
export interface WebServer {
  /** The address with the port in use. */
  readonly address: ListenAddress;
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** Handles all requests from now on. Requests that came before it wait. */
  handle(listener: RequestListener): void;
  /** Stops listening, gives requests in progress a moment, and ends every connection. */
  close(): Promise<void>;
}

/** Limits of a connection, in bytes and milliseconds. A browser and a scraper need a fraction of each. */
const CONNECTION_LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
} as const;
/** Replaces some of {@link CONNECTION_LIMITS}. */
export type ConnectionLimits = Partial<Record<keyof typeof CONNECTION_LIMITS, number>>;
const CONNECTIONS_MAX = 256;
/** How long requests in progress may take after the end was asked for. */
const CLOSE_MS = 400;

/**
 * Listens for HTTP requests.
 * @throws {UsageError} if the address cannot be used.
 */
export async function listen(
  address: ListenAddress,
  clock: Clock,
  limits: ConnectionLimits = {},
): Promise<WebServer> {
  const server = createServer({ ...CONNECTION_LIMITS, ...limits });
  limitConnections(server);
  const port = await listening(server, address).catch((error: unknown) => {
    throw explained(error, address);
  });
  const own = { host: address.host, port };
  return {
    address: own,
    url: `http://${formatListenAddress(own)}`,
    handle: (listener) => void server.on('request', listener),
    close: () => closed(server, clock),
  };
}

/**
 * Ends the oldest connection that waits for a request if there are too many. So connections that never send one cannot keep
 * others out.
 */
function limitConnections(server: Server): void {
  let open = 0;
  const waiting = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open += 1;
    waiting.add(socket);
    socket.once('close', () => {
      open -= 1;
      waiting.delete(socket);
    });
    const [oldest] = waiting;
    if (open > CONNECTIONS_MAX) oldest?.destroy();
  });
  server.on('request', ({ socket }, response) => {
    waiting.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) waiting.add(socket);
    });
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

/** Turns the errors of an unusable address into usage errors. */
function explained(error: unknown, address: ListenAddress): unknown {
  if (!hasCode(error, 'EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND')) return error;
  return new UsageError(`listen on ${formatListenAddress(address)}: ${whyNot(error)}`, {
    cause: error,
    reason: 'address-unusable',
    hint: 'give another port, or 0 for any free one',
  });
}

function whyNot(error: unknown): string {
  if (hasCode(error, 'EADDRINUSE')) return 'the port is in use';
  if (hasCode(error, 'ENOTFOUND')) return 'the name cannot be resolved';
  return hasCode(error, 'EACCES') ? 'this user may not use it' : 'this machine does not have the address';
}

async function closed(server: Server, clock: Clock): Promise<void> {
  const end = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await Promise.race([end, clock.sleep(CLOSE_MS)]);
  server.closeAllConnections();
  await end;
}

/** Names by which this machine reaches itself. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Decides to which Host headers a server answers: the names of this machine and the address that it listens on, with its
 * port; and names that were allowed, with their port, or with any if they have none. A page of another site whose name
 * suddenly leads to this machine (DNS rebinding) has another Host.
 * @param listening with the port in use.
 */
export function hostCheck(
  listening: ListenAddress,
  allowed: readonly string[],
): (host: string | undefined) => boolean {
  const own = [
    ...LOOPBACK_NAMES.map((name) => `${name}:${listening.port}`),
    formatListenAddress(listening).toLowerCase(),
  ];
  const names = new Set(allowed.map(bracketed));
  return (host) => {
    if (host === undefined) return false;
    const asked = withPort(host.toLowerCase());
    return own.includes(asked) || names.has(host.toLowerCase()) || names.has(withoutPort(asked));
  };
}

/** Browsers leave out the port of http. */
function withPort(host: string): string {
  return /:\d+$/.test(host) && !/^\[[^\]]*$/.test(host) ? host : `${host}:80`;
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function bracketed(name: string): string {
  const lower = name.toLowerCase();
  return isIP(lower) === 6 ? `[${lower}]` : lower;
}
