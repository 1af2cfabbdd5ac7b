import type { IncomingMessage, ServerResponse } from 'node:http';
import { UsageError } from '../core/errors.ts';
import type { Journal } from './control/journal.ts';
import { applyActions } from './faults/apply.ts';
import type { FaultEngine } from './faults/engine.ts';
import type { Rule } from './faults/rules.ts';
import { callerOf } from './http/auth.ts';
import { deliver, later } from './http/deliver.ts';
import { showsReply } from './http/delivery.ts';
import type { Call } from './http/incoming-request.ts';
import { gzipReply, type Reply } from './http/prepared-response.ts';
import type { Target } from './http/request-target.ts';
import type { Upload } from './http/upload.ts';
import type { Quirks } from './quirks/quirks.ts';
import type { Service } from './service.ts';
import type { RevisionRequest } from './world/revise.ts';
import type { World } from './world/world.ts';

/** What an exchange works with. */
export interface ExchangeParts {
  readonly world: World;
  readonly service: Service;
  readonly faults: FaultEngine;
  readonly journal: Journal;
  targetOf(url: string): Target;
  revise(request: RevisionRequest): void;
  latencyMs(): number;
}

/** The way of one request to the service: read, decide on a fault, answer, deliver, count. */
export function exchange(
  parts: ExchangeParts,
): (request: IncomingMessage, response: ServerResponse, upload: Upload | null) => void {
  const { world, service, faults, journal } = parts;
  return (request, response, upload) => {
    const target = parts.targetOf(request.url ?? '/');
    const caller = callerOf(request.headers.authorization, world.keys);
    const call: Call = {
      method: request.method ?? 'GET',
      target,
      caller,
      inFlight: journal.inFlight() + 1,
      upload,
    };
    const fault = faults.decide(call, () => service.pageOf(target));
    const entry = journal.begin(call, fault?.id ?? null);
    response.once('close', entry.ended);

    const plain = fault === null ? service.answer(call) : faultyReply(fault, call, parts);
    const reply = shape(plain, world.quirks(), String(request.headers['accept-encoding'] ?? ''));
    const go = (): void => {
      if (showsReply(reply.delivery)) entry.sent(reply.status);
      response.sendDate = false;
      const headers = { date: world.now().toUTCString(), 'x-request-id': target.requestId };
      deliver(reply, { request, response, headers });
    };
    const waitMs = parts.latencyMs() + (reply.delayMs ?? 0);
    if (waitMs === 0) go();
    else later(request.socket, waitMs, go);
  };
}

function faultyReply({ id, rule }: { id: string; rule: Rule }, call: Call, parts: ExchangeParts): Reply {
  return applyActions([rule.action].flat(), {
    call,
    answer: (target) => parts.service.answer({ ...call, target }),
    targetOf: parts.targetOf,
    revise(request) {
      try {
        parts.revise(request);
      } catch (error) {
        // What was to be revised may be gone by now; that is for the journal and not for the client.
        if (!(error instanceof UsageError)) throw error;
        parts.journal.missed(id);
      }
    },
    now: parts.world.now,
    missed: () => parts.journal.missed(id),
  });
}

/** Applies the quirks that concern every answer. */
function shape(reply: Reply, { gzip, keepAlive }: Quirks, acceptEncoding: string): Reply {
  const encoded = gzip && /\bgzip\b/.test(acceptEncoding) ? gzipReply(reply) : reply;
  if (keepAlive || encoded.delivery !== undefined) return encoded;
  return { ...encoded, delivery: { type: 'fin', announced: false } };
}
