import type { IncomingMessage } from 'node:http';
import { SESSIONS_PATH } from '../../api/paths.ts';

/** Bytes of the body of a creation at most; more is answered 413. */
export const BODY_BYTES_MAX = 1024 * 1024;

/** What came with a request to create a session. */
export interface Upload {
  readonly contentType: string;
  /** Null when it has more than {@link BODY_BYTES_MAX} bytes. */
  readonly body: Buffer | null;
}

/**
 * Hands out a request together with its body, once that is whole or too large. At once and without one for anything
 * but a creation; never when the client goes away before.
 */
export function receive(request: IncomingMessage, serve: (upload: Upload | null) => void): void {
  if (request.method !== 'POST' || !isForSessions(request.url)) {
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
    // What follows is read and thrown away, so that the client gets to see the answer.
    if (bytes > BODY_BYTES_MAX) finish(null);
    else chunks.push(chunk);
  });
  request.once('end', () => finish(Buffer.concat(chunks)));
}

function isForSessions(url = ''): boolean {
  return url.split('?', 1)[0] === SESSIONS_PATH;
}
