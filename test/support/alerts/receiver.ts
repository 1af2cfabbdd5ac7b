import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

/** A received message. */
export interface Received {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: string;
}

/** A server for pings and webhooks, which closes itself when the test ends. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** What it does to the next messages. */
  answer: Answer;
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** What a server may do to a message. */
export const ANSWERS = {
  accepts: (response) => void response.writeHead(200).end('OK'),
  hangs: () => undefined,
  drips: (response, request) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 50);
    request.socket.on('close', () => clearInterval(timer));
  },
  'drips its head': (_, { socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x: y\r\n'), 50);
    socket.on('close', () => clearInterval(timer));
  },
  'answers 500': (response) => void response.writeHead(500).end('{"detail":"no"}'),
  'answers 404': (response) => void response.writeHead(404).end(),
  'closes the connection': (_, { socket }) => void socket.destroy(),
  'answers nonsense': (_, { socket }) => void socket.end('no HTTP at all\r\n\r\n'),
} as const satisfies Record<string, Answer>;

/** A server that redirects everything to another address. */
export function redirectTo(location: string): Answer {
  return (response) => void response.writeHead(307, { location }).end();
}

/** Starts a server that records messages before it answers them. */
export async function receiver(answer: Answer = ANSWERS.accepts): Promise<Receiver> {
  const received: Received[] = [];
  const self: Receiver = { url: '', received, answer };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://receiver');
    const contentType = request.headers['content-type'] ?? '';
    received.push({ method: request.method ?? '', path: pathname, query: searchParams, contentType, body });
    self.answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return Object.assign(self, { url: `http://127.0.0.1:${port}/ping/canary-ping-token` });
}
