import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A received GET request. */
export interface RawRequest {
  /** Number of the request, from 1. */
  readonly index: number;
  /** Number of the connection on which it came, from 1. */
  readonly connection: number;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers a request with any bytes, or not at all. */
export type RawReply = (socket: Socket, request: RawRequest) => void;

/** A TCP server that closes itself when the test ends. */
export interface RawServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RawRequest[];
  readonly connections: number;
  /** The number of open sockets. */
  readonly open: number;
  close(): Promise<void>;
}

// A client that offers HTTP/2 gets it, and fails: these servers speak HTTP/1.1.
const ALPNProtocols = ['h2', 'http/1.1'];

/** Listens on a free port of the loopback interface, or on `port`; over TLS with a key and a certificate. */
export async function rawServer(
  reply: RawReply,
  options: { port?: number; tls?: { key: string; cert: string } } = {},
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const accept = (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    readRequests(socket, connections, (request) => {
      const numbered = { ...request, index: requests.length + 1 };
      requests.push(numbered);
      reply(socket, numbered);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server: Server = options.tls
    ? createTlsServer({ ...options.tls, ALPNProtocols }, accept)
    : createTcpServer(accept);
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  const port = portOf(server);
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    close,
  };
}

/** Builds an HTTP response. It has a Content-Length unless the headers say otherwise. */
export function http(
  status: number,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string | number | undefined>> = {},
): Buffer {
  const bytes = Buffer.from(body);
  const all = { 'content-type': 'application/json', 'content-length': bytes.length, ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`), bytes]);
}

/** Builds an HTTP response with a JSON body. */
export function json(value: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Buffer {
  return http(status, JSON.stringify(value), headers);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  return address.port;
}

type Parsed = Omit<RawRequest, 'index'>;

function readRequests(socket: Socket, connection: number, take: (request: Parsed) => void): void {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      const [first = '', ...lines] = text.slice(0, end).split('\r\n');
      text = text.slice(end + 4);
      const [method = '', path = ''] = first.split(' ');
      const headers = lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      });
      take({ connection, method, path, headers: Object.fromEntries(headers) });
    }
  });
}
