import type { IncomingMessage, ServerResponse } from 'node:http';
import { UsageError } from '../core/errors.ts';
import type { Journal } from './control/journal.ts';
import { applyActions } from './faults/apply.ts';
import type { FaultEngine } from './faults/engine.ts';
import type { Rule } from './faults/rules.ts';
import type { ApiCall } from './http/api-call.ts';
import { identifyCaller } from './http/auth.ts';
import { deliver, runLater } from './http/deliver.ts';
import { compressResponse, type PreparedResponse, showsResponse } from './http/prepared-response.ts';
import { readTarget } from './http/request-target.ts';
import type { Upload } from './http/upload.ts';
import type { Quirks } from './quirks/quirks.ts';
import type { Service } from './service.ts';
import type { RevisionRequest } from './world/revision-request.ts';
import type { World } from './world/world.ts';

/** The parts that serve one request together. */
export interface ExchangeParts {
  readonly world: World;
  readonly service: Service;
  readonly faults: FaultEngine;
  readonly journal: Journal;
  readonly seed: number;
  revise(request: RevisionRequest): void;
  latencyMs(): number;
}

/**
 * Returns the function that serves a request: it reads the request, selects a fault, and prepares, sends and records the
 * response.
 */
export function openExchange(
  parts: ExchangeParts,
): (request: IncomingMessage, response: ServerResponse, upload: Upload | null) => void {
  const { world, service, faults, journal } = parts;
  return (request, response, upload) => {
    const target = readTarget(request.url ?? '/', parts.seed);
    const call: ApiCall = {
      method: request.method ?? 'GET',
      target,
      caller: identifyCaller(request.headers.authorization, world.keys),
      inFlight: journal.inFlight() + 1,
      upload,
    };
    const fault = faults.decide(call, () => service.pageOf(target));
    const entry = journal.begin(call, fault?.id ?? null);
    response.once('close', entry.ended);

    const plain = fault === null ? service.answer(call) : prepareFaulty(fault, call, parts);
    const acceptEncoding = String(request.headers['accept-encoding'] ?? '');
    const prepared = applyTransportQuirks(plain, world.quirks(), acceptEncoding);
    const send = (): void => {
      if (showsResponse(prepared.delivery)) entry.sent(prepared.status);
      response.sendDate = false;
      const headers = { date: world.now().toUTCString(), 'x-request-id': target.requestId };
      deliver(prepared, { request, response, headers });
    };
    const waitMs = parts.latencyMs() + (prepared.delayMs ?? 0);
    if (waitMs === 0) send();
    else runLater(request.socket, waitMs, send);
  };
}

function prepareFaulty(
  { id, rule }: { id: string; rule: Rule },
  call: ApiCall,
  { service, world, journal, ...parts }: ExchangeParts,
): PreparedResponse {
  return applyActions([rule.action].flat(), {
    call,
    answer: (url) =>
      service.answer(url === undefined ? call : { ...call, target: readTarget(url, parts.seed) }),
    revise(request) {
      try {
        parts.revise(request);
      } catch (error) {
        // What the revision names may no longer exist. The journal records that; the client does not see it.
        if (!(error instanceof UsageError)) throw error;
        journal.missed(id);
      }
    },
    now: world.now,
    missed: () => journal.missed(id),
  });
}

/** Applies the quirks that affect every response. */
function applyTransportQuirks(
  prepared: PreparedResponse,
  { gzip, keepAlive }: Quirks,
  acceptEncoding: string,
): PreparedResponse {
  const encoded = gzip && /\bgzip\b/.test(acceptEncoding) ? compressResponse(prepared) : prepared;
  if (keepAlive || encoded.delivery !== undefined) return encoded;
  return { ...encoded, delivery: { type: 'fin', announced: false } };
}
