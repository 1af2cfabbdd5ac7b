import { STATUS_CODES } from 'node:http';
import { gzipSync } from 'node:zlib';

/** The HTTP title of a status. */
export function titleOf(status: number): string {
  return STATUS_CODES[status] ?? 'Unknown';
}

/** A request that the service refuses. It becomes the error body of the specification, section 2.6. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Facts about the refusal, which only the session endpoint shows. */
  readonly metadata: object | undefined;

  constructor(
    status: number,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
    metadata?: object,
  ) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.metadata = metadata;
  }
}

/** Smaller bodies are not compressed. */
const GZIP_BYTES_MIN = 1_024;

/** A response before it is sent. Immutable: a fault makes a changed copy. */
export interface PreparedResponse {
  readonly status: number;
  /** Without content-length, date and x-request-id, which are added when it is sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** How it is sent. Absent: as a plain HTTP response. */
  readonly delivery?: Delivery;
  /** Milliseconds to wait before sending, in addition to the emulator's latency. */
  readonly delayMs?: number;
}

/** A faulty way of sending a response. */
export type Delivery =
  /** Never sends anything. */
  | { readonly type: 'hang' }
  /** Resets the TCP connection before the headers (null), or after this many bytes of the body. */
  | { readonly type: 'reset'; readonly afterBytes: number | null }
  /** Ends the connection after this many bytes of the body. */
  | { readonly type: 'cut'; readonly bytes: number; readonly framing: Framing }
  /** Sends the body in pieces of this many bytes. */
  | { readonly type: 'drip'; readonly bytes: number; readonly intervalMs: number }
  /** Ends the connection after the whole response; only `announced` sends `connection: close` first. */
  | { readonly type: 'fin'; readonly announced: boolean }
  /** Sends these bytes instead of an HTTP message, then ends the connection. */
  | { readonly type: 'raw'; readonly bytes: Buffer };

/** What marks the end of a body: its length, a last chunk, or the end of the connection. */
export type Framing = 'length' | 'chunked' | 'close';

/** True when the client receives at least the status. */
export function showsResponse(delivery: Delivery | undefined): boolean {
  if (delivery?.type === 'reset') return delivery.afterBytes !== null;
  return delivery?.type !== 'hang' && delivery?.type !== 'raw';
}

/** Prepares a response with a JSON text as its body. */
export function prepareJson(
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): PreparedResponse {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers: { ...type, ...headers }, body: Buffer.from(json) };
}

/** Prepares the response to a refused request (specification, sections 2.6 and 7). */
export function prepareProblem(refusal: Refusal, requestId: string): PreparedResponse {
  const { status, message: detail, headers } = refusal;
  return prepareJson(status, JSON.stringify({ title: titleOf(status), detail, status, requestId }), headers);
}

/** Prepares the response to a refused request in a format that the specification does not show. */
export function prepareForeign(refusal: Refusal, shape: 'error' | 'text'): PreparedResponse {
  const { status, message, headers } = refusal;
  const title = titleOf(status);
  if (shape === 'error') {
    return prepareJson(status, JSON.stringify({ error: { code: title, message } }), headers);
  }
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: Buffer.from(`${title}\n${message}\n`),
  };
}

const compressedBodies = new WeakMap<Buffer, Buffer>();

/** Compresses a response, unless it is small or already encoded. Each body is compressed once. */
export function compressResponse(response: PreparedResponse): PreparedResponse {
  const { body, headers } = response;
  if (body.length < GZIP_BYTES_MIN || headers['content-encoding'] !== undefined) return response;
  const compressed = compressedBodies.get(body) ?? gzipSync(body, { level: 5 });
  compressedBodies.set(body, compressed);
  return {
    ...response,
    headers: { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: compressed,
  };
}

/** Writes the error body of the session endpoint (specification, section 2.6). Unlike other error bodies it has no requestId. */
export function writeSessionProblem(
  status: number,
  detail: string,
  { title = titleOf(status), metadata }: { title?: string; metadata?: object | undefined },
): object {
  return { detail, status, title, ...(metadata === undefined ? {} : { metadata }) };
}

/** Prepares the response to a refused request to create a session. */
export function prepareSessionRefusal(refusal: Refusal): PreparedResponse {
  const { status, message, headers } = refusal;
  return prepareJson(status, JSON.stringify(writeSessionProblem(status, message, refusal)), headers);
}
