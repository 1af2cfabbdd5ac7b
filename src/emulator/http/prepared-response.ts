import { gzipSync } from 'node:zlib';
import type { Delivery } from './delivery.ts';
import { type Refusal, titleOf } from './refusal.ts';

/** Below this a body is sent as it is: compressing it would not pay. */
const GZIP_BYTES_MIN = 1_024;

/** An answer, before it is put on the wire. Immutable: a fault makes a changed copy. */
export interface Reply {
  readonly status: number;
  /** Without content-length, date and x-request-id, which are added on the way out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** How it goes onto the wire; plainly unless a fault says otherwise. */
  readonly delivery?: Delivery;
  /** Milliseconds to wait before it is sent, besides the latency of the emulator. */
  readonly delayMs?: number;
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;

/** An answer with a JSON text. */
export function jsonReply(
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: Buffer.from(json) };
}

/** The answer to a refused request (specification, sections 2.6 and 7). */
export function problemReply(refusal: Refusal, requestId: string): Reply {
  const { status, message: detail, headers } = refusal;
  return jsonReply(status, JSON.stringify({ title: titleOf(status), detail, status, requestId }), headers);
}

/** The answer to a refused request in a shape that the specification does not show. */
export function foreignReply(refusal: Refusal, shape: 'error' | 'text'): Reply {
  const { status, message, headers } = refusal;
  if (shape === 'error')
    return jsonReply(status, JSON.stringify({ error: { code: titleOf(status), message } }), headers);
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: Buffer.from(`${titleOf(status)}\n${message}\n`),
  };
}

const compressed = new WeakMap<Buffer, Buffer>();

/** The reply compressed, if it is worth it and not encoded yet. The work is done once per body. */
export function gzipReply(reply: Reply): Reply {
  if (reply.body.length < GZIP_BYTES_MIN || reply.headers['content-encoding'] !== undefined) return reply;
  const body = compressed.get(reply.body) ?? gzipSync(reply.body, { level: 5 });
  compressed.set(reply.body, body);
  return {
    ...reply,
    headers: { ...reply.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body,
  };
}
