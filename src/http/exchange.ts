import { isAscii, isUtf8 } from 'node:buffer';
import { createGunzip, gunzipSync } from 'node:zlib';
import type { Cancellation } from './api-request.ts';
import type { Connections, RequestController } from './connections.ts';
import { BODY_BYTES_MAX, ERROR_BODY_BYTES_MAX } from './limits.ts';

/** A response of any status. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The decoded bytes. The body of an error or of a response without JSON is empty if it is too large or broken. */
  readonly body: Buffer;
}

/** A request with its callbacks. */
interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly cancellation: Cancellation;
  /** Called just before the first byte is handed to a connection. @default does nothing */
  readonly onStart?: () => void;
  /** Called when status and headers arrive; the body may still fail. @default does nothing */
  readonly onHead?: (status: number, headers: Headers) => void;
}

/**
 * Sends a request and reads the whole response. It collects the bytes in callbacks, because a stream per body would take
 * as long as parsing it.
 * @throws {BodyTooLargeError} for a JSON answer beyond {@link BODY_BYTES_MAX}; errors of undici and zlib; any error if it
 * is cancelled.
 */
export async function exchange(connections: Connections, request: Exchange): Promise<HttpResponse> {
  const { status, headers, bytes } = await receive(connections, request);
  const isWanted = isAnswer(status, headers);
  const bytesMax = isWanted ? BODY_BYTES_MAX : ERROR_BODY_BYTES_MAX;
  const encoding = headerOf(headers, 'content-encoding');
  try {
    return { status, headers, body: await decodeBody(bytes, encoding, bytesMax) };
  } catch (error) {
    if (isWanted) throw error;
    return { status, headers, body: Buffer.alloc(0) };
  }
}

/** True for a successful response that is JSON by its header, or names no type: the specification promises none. */
export function isAnswer(status: number, headers: Headers): boolean {
  const type = headerOf(headers, 'content-type') ?? '';
  return status >= 200 && status <= 299 && (type === '' || /^application\/([\w.+-]+\+)?json\b/i.test(type));
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

function receive(connections: Connections, request: Exchange): Promise<Received> {
  const { method, path, headers, body, cancellation, onStart, onHead } = request;
  const { promise, resolve, reject } = withResolvers<Received>();
  let controller: RequestController | undefined;
  let head: { readonly status: number; readonly headers: Headers } | undefined;
  let bytes = new BodyBytes(ERROR_BODY_BYTES_MAX);
  // The status of an error matters more than its body, so a missing body does not hide the status.
  const fail = (error: unknown) => {
    cancellation.listen(undefined);
    if (head === undefined || isAnswer(head.status, head.headers)) reject(error);
    else resolve({ ...head, bytes: Buffer.alloc(0) });
  };
  const abort = () => {
    const reason = new Error('aborted');
    fail(reason);
    // Without a controller the request has not begun yet. It is aborted as soon as it begins.
    controller?.abort(reason);
  };
  cancellation.listen(abort);
  connections.dispatch(
    // The caller limits the time: it may be longer or shorter than that of the connection.
    { method, path, headers, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 },
    {
      onRequestStart: (started) => {
        controller = started;
        if (cancellation.isCancelled) return started.abort(new Error('aborted'));
        onStart?.();
      },
      onResponseStart: (_, status, received) => {
        // Interim responses, such as 103, come before the final one.
        if (status < 200) return;
        head = { status, headers: received };
        onHead?.(status, received);
        if (isAnswer(status, received)) bytes = new BodyBytes(BODY_BYTES_MAX);
      },
      onResponseData: (receiving, chunk) => {
        try {
          bytes.add(chunk);
        } catch (error) {
          receiving.abort(error instanceof Error ? error : new Error(String(error)));
        }
      },
      onResponseEnd: () => {
        cancellation.listen(undefined);
        if (head === undefined) reject(new Error('the response has no status'));
        else resolve({ ...head, bytes: bytes.take() });
      },
      onResponseError: (_, error) => fail(error),
    },
  );
  if (cancellation.isCancelled) abort();
  return promise;
}

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** Header values as undici gives them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The value of a header; the first one if it is repeated. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Up to this many compressed bytes are decoded on this thread: for a page, sending them to another thread and back takes
 * twice as long as decoding. They decode to at most a thousand times as many bytes, in some tens of milliseconds.
 */
const AT_ONCE_BYTES_MAX = 64 * 1024;
/** Bounds of the bytes of an output piece. A piece is also no smaller than the input; zlib needs at least 64 bytes. */
const PIECE_BYTES = { min: 64, max: 1024 * 1024 } as const;
/** Bytes at the end of a gzip member that hold its decoded length. */
const LENGTH_BYTES = 4;

/** A body has an encoding that was not requested. */
export class UnknownEncodingError extends Error {
  constructor(encoding: string) {
    const isKnown = encoding.split(/, ?/).every((one) => ENCODINGS.has(one));
    const name = isKnown ? JSON.stringify(encoding) : 'something that is no known encoding';
    super(`the body is encoded as ${name}; only gzip was requested`);
  }
}

/** Encodings that a message may name. Any other text of the service could be about a person. */
const ENCODINGS: ReadonlySet<string> = new Set(['gzip', 'br', 'zstd', 'deflate', 'compress']);

/**
 * The decoded bytes of a body. Decoding stops at the first byte beyond `bytesMax`, so a gzip bomb never fills the memory.
 * @throws {BodyTooLargeError} beyond `bytesMax`; {@link UnknownEncodingError}; zlib's error for a cut or broken body.
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip') throw new UnknownEncodingError(name);
  if (bytes.length > AT_ONCE_BYTES_MAX) return gunzipInThread(bytes, bytesMax);
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax, chunkSize: pieceBytes(bytes) });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(bytesMax);
    throw error;
  }
}

/**
 * The size of an output piece: enough for the whole output if the body states its length correctly. But a body of several
 * gzip members states only the length of the last one. Pieces are at least as large as the input, so there are never more
 * than about a thousand.
 */
function pieceBytes(bytes: Buffer): number {
  const least = Math.max(PIECE_BYTES.min, bytes.length);
  if (bytes.length < LENGTH_BYTES) return least;
  const stated = bytes.readUInt32LE(bytes.length - LENGTH_BYTES);
  // With one more byte, zlib need not check for further output.
  return Math.min(PIECE_BYTES.max, Math.max(least, stated + 1));
}

/** Decodes in another thread, piece by piece. */
function gunzipInThread(bytes: Buffer, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const decoded = new BodyBytes(bytesMax);
    const stream = createGunzip();
    stream.on('data', (piece: Buffer) => {
      try {
        decoded.add(piece);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    stream.on('end', () => resolve(decoded.take()));
    stream.on('error', reject);
    stream.end(bytes);
  });
}

/** A body has, or decodes to, more bytes than allowed. */
export class BodyTooLargeError extends Error {
  constructor(bytesMax: number) {
    super(`the body decodes to more than ${bytesMax} bytes`);
  }
}

/** The memory of a larger body is released as soon as it is parsed, without waiting for the garbage collector. */
const LARGE_BYTES = 1024 * 1024;

/** Collects the bytes of a body. */
export class BodyBytes {
  #chunks: Uint8Array[] = [];
  #large: ArrayBuffer | undefined;
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax maximum number of bytes. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws {BodyTooLargeError} at the first byte too many. */
  add(chunk: Uint8Array): void {
    const start = this.#bytes;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) throw new BodyTooLargeError(this.#bytesMax);
    if (this.#bytes <= LARGE_BYTES) this.#chunks.push(chunk);
    else new Uint8Array(this.#room()).set(chunk, start);
  }

  /** All bytes; call it once. Pass them to {@link release} when they are parsed. */
  take(): Buffer {
    const [chunks, large] = [this.#chunks, this.#large];
    this.#chunks = [];
    this.#large = undefined;
    if (large !== undefined) return Buffer.from(large, 0, this.#bytes);
    const [first] = chunks;
    if (chunks.length !== 1 || first === undefined) return Buffer.concat(chunks, this.#bytes);
    return Buffer.from(first.buffer, first.byteOffset, first.length);
  }

  /** A buffer for all bytes so far. The system allocates only the pages that are written. */
  #room(): ArrayBuffer {
    let large = this.#large;
    if (large === undefined) {
      large = new ArrayBuffer(0, { maxByteLength: this.#bytesMax });
      this.#large = large;
    }
    if (this.#bytes > large.byteLength) large.resize(Math.min(this.#bytesMax, 2 * this.#bytes));
    let start = 0;
    for (const chunk of this.#chunks) {
      new Uint8Array(large).set(chunk, start);
      start += chunk.length;
    }
    this.#chunks = [];
    return large;
  }
}

/**
 * Releases the memory of a large body. The garbage collector would release it too, but only after the text and the values
 * of the body were allocated.
 */
export function release({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0);
}

/** Text of UTF-8 bytes; undefined if they are not valid, because a lenient decoder would alter them silently. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
