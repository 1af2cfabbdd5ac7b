import { createHash, timingSafeEqual } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { ListenAddress } from '../core/addresses.ts';
import type { Clock } from '../core/clock.ts';
import { hostCheck, listen } from '../core/web-server.ts';
import type { Assistant } from './assistant.ts';
import { createProtocolServer } from './protocol.ts';

/** The path of the server. */
const PATH = '/mcp';
/** A question needs a hundredth of it. */
const BODY_BYTES_MAX = 100_000;

/** How to serve over HTTP. */
export interface HttpServing {
  readonly listen: ListenAddress;
  /** What every request must show. */
  readonly token: string;
  /** Further names in Host headers. */
  readonly allowedHosts: readonly string[];
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

/** A server that listens. */
export interface HttpServer {
  readonly url: string;
  /** Stops listening, gives requests in progress a moment, and ends every connection. */
  close(): Promise<void>;
}

/**
 * Serves clients over HTTP: each request is answered alone, and no session is kept.
 * @throws {UsageError} if the address cannot be used.
 */
export async function serveOverHttp(
  { listen: address, token, allowedHosts, clock, report }: HttpServing,
  assistant: () => Promise<Assistant>,
): Promise<HttpServer> {
  const server = await listen(address, clock);
  const answersTo = hostCheck(server.address, allowedHosts);
  const handler = createMcpHandler(() => createProtocolServer(assistant), {
    responseMode: 'json',
    maxRequestBodySize: BODY_BYTES_MAX,
    onerror: report,
  });
  const answer = async (request: Request): Promise<Response> => {
    const refusal = refusalOf(request, { answersTo, token });
    return secured(refusal ?? (await handler.fetch(request)));
  };
  server.handle(getRequestListener(answer, { overrideGlobalObjects: false }));
  return {
    url: `${server.url}${PATH}`,
    close: async () => {
      await handler.close();
      await server.close();
    },
  };
}

interface Gate {
  readonly answersTo: (host: string | undefined) => boolean;
  readonly token: string;
}

/** Why a request gets no answer; null if it gets one. A page of another site has another Host, or says where it comes from. */
function refusalOf(request: Request, { answersTo, token }: Gate): Response | null {
  const origin = request.headers.get('origin');
  if (!answersTo(request.headers.get('host') ?? undefined))
    return refused(421, 'this server does not answer to this name');
  if (origin !== null && !(URL.canParse(origin) && answersTo(new URL(origin).host)))
    return refused(403, 'this request comes from another site');
  if (!isToken(request.headers.get('authorization'), token))
    return refused(401, 'send the token of this server: Authorization: Bearer TOKEN', {
      'www-authenticate': 'Bearer',
    });
  return new URL(request.url).pathname === PATH ? null : refused(404, `the server is at ${PATH}`);
}

function isToken(authorization: string | null, token: string): boolean {
  const shown = /^bearer +(.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
  return timingSafeEqual(digestOf(shown), digestOf(token));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** An error as the protocol writes one. */
function refused(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_600, message } }, { status, headers });
}

/** Numbers of people are not left in a cache on the way or on a disk. */
function secured(response: Response): Response {
  response.headers.set('cache-control', 'private, no-store');
  response.headers.set('x-content-type-options', 'nosniff');
  return response;
}
