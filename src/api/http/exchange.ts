import type { Dispatcher } from 'undici';
import { BODY_BYTES_MAX, ERROR_BODY_BYTES_MAX } from '../limits.ts';
import { BodyBytes } from '../response/body.ts';
import { decodeBody } from '../response/gunzip.ts';
import { type Headers, headerOf } from '../response/headers.ts';
import type { Connections } from './connections.ts';
import type { Cancellation } from './deadline.ts';

/** A response of any status. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The decoded bytes. The body of an error or of a response without JSON is empty if it is too large or broken. */
  readonly body: Buffer;
}

/** A request with its callbacks. */
export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly cancellation: Cancellation;
  /** Called just before the first byte is handed to a connection. @default does nothing */
  readonly onStart?: () => void;
  /** Called when the status arrives; the body may still fail. @default does nothing */
  readonly onStatus?: (status: number) => void;
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

/** True for a successful response with a JSON body. */
export function isAnswer(status: number, headers: Headers): boolean {
  return status >= 200 && status <= 299 && isJson(headers);
}

function isJson(headers: Headers): boolean {
  return /^application\/([\w.+-]+\+)?json\b/i.test(headerOf(headers, 'content-type') ?? '');
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

function receive(connections: Connections, request: Exchange): Promise<Received> {
  const { method, path, headers, body, cancellation, onStart, onStatus } = request;
  const { promise, resolve, reject } = withResolvers<Received>();
  let controller: Dispatcher.DispatchController | undefined;
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
    { method, path, headers, body: body ?? null },
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
        onStatus?.(status);
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
