import type { IncomingMessage } from 'node:http';
import { SESSIONS_PATH } from '../../api/paths.ts';

/** Maximum bytes in the body of a request that creates a session; a larger one gets 413. */
export const BODY_BYTES_MAX = 1024 * 1024;

/** The body of a request to create a session. */
export interface Upload {
  readonly contentType: string;
  /** Null when it exceeds {@link BODY_BYTES_MAX}. */
  readonly body: Buffer | null;
}

/**
 * Calls `serve` once with the body of the request, as soon as it is complete or too large. Only a POST to the session
 * endpoint has its body read; other requests are served at once, with null. `serve` is not called when the client
 * disconnects first.
 */
export function receiveUpload(request: IncomingMessage, serve: (upload: Upload | null) => void): void {
  if (request.method !== 'POST' || request.url?.split('?', 1)[0] !== SESSIONS_PATH) {
    serve(null);
    return;
  }
  const contentType = request.headers['content-type'] ?? '';
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isServed = false;
  const finish = (body: Buffer | null): void => {
    if (isServed) return;
    isServed = true;
    serve({ contentType, body });
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The rest is read and dropped, because a client that is still sending would not see the response.
    if (bytes > BODY_BYTES_MAX) finish(null);
    else chunks.push(chunk);
  });
  request.once('end', () => finish(Buffer.concat(chunks)));
}
