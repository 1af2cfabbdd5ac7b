import { createServer, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import type { Clean } from './service.ts';

/** Serves the results of `answer` over TCP; every second one is compressed. It closes when the test ends. */
export async function serve(answer: (path: string) => Promise<Clean>): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    answer(request.url ?? '/').then(
      (clean) => {
        count += 1;
        send(response, clean, count % 2 === 0);
      },
      (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}

function send(response: ServerResponse, { status, headers, body }: Clean, isCompressed: boolean): void {
  const bytes = isCompressed ? gzipSync(body) : body;
  response.writeHead(status, {
    'content-type': headers['content-type'] ?? 'application/json',
    'content-length': bytes.length,
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  });
  response.end(bytes);
}
