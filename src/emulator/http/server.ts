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
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true }, (request, response) => {
    void onRequest(request, response);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // A client may disconnect at any moment; what was being sent to it is no longer needed.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    const refused = (cause: Error): void => {
      reject(
        new UsageError(`listen on ${address.host}:${address.port}: ${cause.message}`, {
          cause,
          hint: 'choose another port, or 0 for a free one',
        }),
      );
    };
    server.once('error', refused);
    server.listen(address.port, address.host, () => {
      server.off('error', refused);
      resolve();
    });
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${address.host}:${port}`,
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
      return closing;
    },
  };
}
