import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Framing } from './delivery.ts';
import type { Reply } from './prepared-response.ts';
import { titleOf } from './refusal.ts';

/** One request with the place where its answer goes. */
export interface Wire {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Headers that every answer has. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Puts a reply on the wire, in the way that its delivery says. */
export function deliver(reply: Reply, wire: Wire): void {
  const { delivery } = reply;
  const { socket } = wire.request;
  switch (delivery?.type) {
    case undefined:
      send(reply, wire);
      return;
    case 'hang':
      return;
    case 'fin':
      if (delivery.announced) wire.response.shouldKeepAlive = false;
      wire.response.once('finish', () => socket.destroySoon());
      send(reply, wire);
      return;
    case 'drip':
      drip(reply, wire, delivery);
      return;
    case 'raw':
      socket.write(delivery.bytes);
      socket.destroySoon();
      return;
    case 'reset':
      reset(reply, wire, delivery.afterBytes);
      return;
    case 'cut':
      socket.write(beginning(reply, wire, delivery.framing, delivery.bytes));
      socket.destroySoon();
      return;
  }
}

/** Runs `task` after a wait, unless the connection ends first. */
export function later(socket: Socket, ms: number, task: () => void): void {
  const timer = setTimeout(() => {
    socket.off('close', cancel);
    task();
  }, ms);
  const cancel = () => clearTimeout(timer);
  socket.once('close', cancel);
}

function send(reply: Reply, { response, headers }: Wire): void {
  response.writeHead(reply.status, { ...headers, ...reply.headers, 'content-length': reply.body.length });
  response.end(reply.body);
}

function drip(reply: Reply, wire: Wire, pace: { bytes: number; intervalMs: number }): void {
  const { request, response, headers } = wire;
  response.writeHead(reply.status, { ...headers, ...reply.headers, 'content-length': reply.body.length });
  response.flushHeaders();
  const next = (from: number): void => {
    const end = from + pace.bytes;
    const piece = reply.body.subarray(from, end);
    if (end >= reply.body.length) {
      response.end(piece);
      return;
    }
    response.write(piece);
    later(request.socket, pace.intervalMs, () => next(end));
  };
  next(0);
}

function reset(reply: Reply, wire: Wire, afterBytes: number | null): void {
  const { socket } = wire.request;
  if (afterBytes === null) {
    socket.resetAndDestroy();
    return;
  }
  socket.write(beginning(reply, wire, 'length', afterBytes), () => socket.resetAndDestroy());
}

/** The head and the first bytes of the body, as they stand on the wire. */
function beginning(reply: Reply, wire: Wire, framing: Framing, bytes: number): Buffer {
  const part = reply.body.subarray(0, bytes);
  const headers = Object.entries({ ...wire.headers, ...reply.headers });
  const lines = [
    `HTTP/1.1 ${reply.status} ${titleOf(reply.status)}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  if (framing === 'length') lines.push(`content-length: ${reply.body.length}`);
  if (framing === 'chunked') lines.push('transfer-encoding: chunked');
  if (framing === 'close') lines.push('connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (framing !== 'chunked') return Buffer.concat([head, part]);
  // A chunk that promises the whole body and breaks off.
  return Buffer.concat([head, Buffer.from(`${reply.body.length.toString(16)}\r\n`), part]);
}
