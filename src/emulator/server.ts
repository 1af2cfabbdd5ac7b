import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { formatListenAddress } from '../core/addresses.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import { type Framing, type PreparedResponse, prepareJson, titleOf } from './response.ts';

/** A listening server. */
interface HttpServer {
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
    void guard(request, response, () => onRequest(request, response));
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
    url: `http://${formatListenAddress({ host: reachableHost(address.host), port })}`,
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

/** Does a part of answering. What it throws becomes a 500, because it would end the process and all other requests. */
export async function guard(
  request: IncomingMessage,
  response: ServerResponse,
  task: () => void | Promise<void>,
): Promise<void> {
  try {
    await task();
  } catch (error) {
    if (response.headersSent) {
      request.socket.destroy();
      return;
    }
    const detail = `the emulator failed: ${messageOf(error)}`;
    const { status, headers, body } = prepareJson(
      500,
      JSON.stringify({ title: titleOf(500), detail, status: 500 }),
    );
    response.writeHead(status, { ...headers, 'content-length': body.length });
    response.end(body);
  }
}

/** An address of this machine for a server that listens on all of them. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** One request and its connection. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Headers that every response has. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a response in the way that its `delivery` says. */
export function deliver(prepared: PreparedResponse, exchange: Exchange): void {
  const { delivery } = prepared;
  const { socket } = exchange.request;
  switch (delivery?.type) {
    case undefined:
      send(prepared, exchange);
      break;
    case 'hang':
      break;
    case 'fin':
      if (delivery.announced) exchange.response.shouldKeepAlive = false;
      exchange.response.once('finish', () => socket.destroySoon());
      send(prepared, exchange);
      break;
    case 'drip':
      drip(prepared, exchange, delivery);
      break;
    case 'raw':
      socket.write(delivery.bytes);
      socket.destroySoon();
      break;
    case 'reset':
      reset(prepared, exchange, delivery.afterBytes);
      break;
    case 'cut':
      socket.write(writeBeginning(prepared, exchange, delivery.framing, delivery.bytes));
      socket.destroySoon();
  }
}

/** Runs `task` after a wait, unless the connection ends first. */
export function runLater(socket: Socket, ms: number, task: () => void): void {
  const timer = setTimeout(() => {
    socket.off('close', cancel);
    task();
  }, ms);
  const cancel = () => clearTimeout(timer);
  socket.once('close', cancel);
}

function send(prepared: PreparedResponse, exchange: Exchange): void {
  writeHead(prepared, exchange);
  exchange.response.end(prepared.body);
}

function writeHead({ status, headers, body }: PreparedResponse, exchange: Exchange): void {
  // RFC 9110, 8.6: a 204 has no Content-Length.
  const length = status === 204 ? {} : { 'content-length': body.length };
  exchange.response.writeHead(status, { ...exchange.headers, ...headers, ...length });
}

function drip(
  prepared: PreparedResponse,
  exchange: Exchange,
  pace: { bytes: number; intervalMs: number },
): void {
  const { request, response } = exchange;
  writeHead(prepared, exchange);
  response.flushHeaders();
  const sendPiece = (from: number): void => {
    const end = from + pace.bytes;
    const piece = prepared.body.subarray(from, end);
    if (end >= prepared.body.length) {
      response.end(piece);
      return;
    }
    response.write(piece);
    runLater(request.socket, pace.intervalMs, () => sendPiece(end));
  };
  sendPiece(0);
}

function reset(prepared: PreparedResponse, exchange: Exchange, afterBytes: number | null): void {
  const { socket } = exchange.request;
  if (afterBytes === null) {
    socket.resetAndDestroy();
    return;
  }
  socket.write(writeBeginning(prepared, exchange, 'length', afterBytes), () => socket.resetAndDestroy());
}

/** Writes the head and the first bytes of the body as they appear on the wire. */
function writeBeginning(
  prepared: PreparedResponse,
  exchange: Exchange,
  framing: Framing,
  bytes: number,
): Buffer {
  const part = prepared.body.subarray(0, bytes);
  const headers = Object.entries({ ...exchange.headers, ...prepared.headers });
  const lines = [
    `HTTP/1.1 ${prepared.status} ${titleOf(prepared.status)}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  if (framing === 'length') lines.push(`content-length: ${prepared.body.length}`);
  if (framing === 'chunked') lines.push('transfer-encoding: chunked');
  if (framing === 'close') lines.push('connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (framing !== 'chunked') return Buffer.concat([head, part]);
  // The chunk announces the whole body and ends early.
  return Buffer.concat([head, Buffer.from(`${prepared.body.length.toString(16)}\r\n`), part]);
}
