import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { UsageError } from '../../core/errors.ts';

/** A listening server. */
export interface HttpServer {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** Stops listening and destroys all connections, including those with a request in progress. May be repeated. */
  close(): Promise<void>;
}

/** Maximum idle time of a connection: longer than any test, so that only faults end connections. */
const KEEP_ALIVE_MS = 600_000;

/**
 * Listens on an address.
 * @throws {UsageError} when the address cannot be used, for example because the port is taken.
 */
export async function listen(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  address: { readonly host: string; readonly port: number },
): Promise<HttpServer> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true }, (request, response) => {
    void onRequest(request, response);
  });
  server.on('connection', (socket: Socket) => {
    // A client may disconnect at any moment, and then no longer needs its response.
    socket.on('error', () => socket.destroy());
  });
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`listen on ${address.host}:${address.port}: ${problem}`, {
      cause,
      hint: 'choose another port, or 0 for a free one',
    });
  }
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${address.host}:${port}`,
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}
