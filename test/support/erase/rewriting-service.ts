import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** What the client that passes a request on writes itself. */
const OWN: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding']);

/** A service in front of another one that changes the text of its answers. */
export interface RewritingService {
  readonly url: string;
  /** Changes the text of every answer from now on. */
  rewrite(change: (text: string) => string): void;
}

/** Starts the service. It is closed when the test ends. */
export async function rewritingService(behind: string): Promise<RewritingService> {
  let change = (text: string) => text;
  const server = createServer(async (request, response) => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === 'string' && !OWN.has(name)) headers.set(name, value);
    const sent = request.method === 'POST' ? { method: 'POST', body: await textOf(request) } : {};
    const answer = await fetch(new URL(request.url ?? '/', behind), { headers, ...sent });
    const text = change(await answer.text());
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    rewrite: (given) => {
      change = given;
    },
  };
}
