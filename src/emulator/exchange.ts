import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { callerOf } from './auth.ts';
import { deliver, later } from './deliver.ts';
import { gzipReply, type Reply } from './reply.ts';
import type { Service } from './service.ts';
import { targetReader } from './target.ts';

/** What an exchange needs besides the service. */
export interface ExchangeOptions {
  readonly seed: number;
  readonly service: Service;
  latencyMs(): number;
}

/** The way of one request: read, decide, answer, deliver. */
export function exchange({ seed, service, latencyMs }: ExchangeOptions): RequestListener {
  const targetOf = targetReader(seed);
  let inFlight = 0;
  return (request: IncomingMessage, response: ServerResponse) => {
    const target = targetOf(request.url ?? '/');
    const caller = callerOf(request.headers.authorization, service.keys);
    inFlight += 1;
    response.once('close', () => {
      inFlight -= 1;
    });
    response.sendDate = false;
    const headers = { date: service.now().toUTCString(), 'x-request-id': target.requestId };
    const reply = finish(
      service.answer({ method: request.method ?? 'GET', target, caller, inFlight }),
      request,
    );
    const wait = latencyMs();
    if (wait === 0) deliver(reply, { request, response, headers });
    else later(request.socket, wait, () => deliver(reply, { request, response, headers }));
  };

  function finish(reply: Reply, request: IncomingMessage): Reply {
    const quirks = service.quirks();
    const accepts = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    const encoded = quirks.gzip && accepts ? gzipReply(reply) : reply;
    if (quirks.keepAlive || encoded.delivery !== undefined) return encoded;
    return { ...encoded, delivery: { type: 'fin', announced: false } };
  }
}
