import { type Delivery, showsReply } from '../http/delivery.ts';
import type { Call } from '../http/incoming-request.ts';
import { jsonReply, type Reply } from '../http/prepared-response.ts';
import type { RevisionRequest } from '../world/revise.ts';
import type { Action, AnswerAsAction, HeadersAction, PatchAction } from './action.ts';
import type { FaultContext } from './context.ts';
import { breakCursor } from './cursor.ts';
import { gzipBomb } from './gzip-bomb.ts';
import { bodyReply, redirectReply, spoil, statusReply } from './made-reply.ts';
import { patchJson } from './patch.ts';
import { fillHeader, fillTemplate, fillTemplates } from './template.ts';
import { deliveryOf } from './transport.ts';

/** What one action does: another answer, another way of delivering it, a wait. */
export interface Effect {
  readonly reply?: Reply;
  readonly delivery?: Delivery;
  readonly delayMs?: number;
}

/** The answer after all actions, in their order. The fault-free answer is made only when something builds on it. */
export function applyActions(actions: readonly Action[], context: FaultContext): Reply {
  let made: Reply | undefined;
  let delivery: Delivery | undefined;
  let delayMs = 0;
  const current = (): Reply => made ?? context.answer(context.call.target);
  for (const action of actions) {
    const effect = applyAction(action, current, context);
    made = effect.reply ?? made;
    delivery = effect.delivery ?? delivery;
    delayMs += effect.delayMs ?? 0;
  }
  if (delivery === undefined) return { ...current(), delayMs };
  return { ...(showsReply(delivery) ? current() : NO_ANSWER), delivery, delayMs };
}

/** For deliveries that never look at the answer. */
const NO_ANSWER = jsonReply(200, '');

function applyAction(action: Action, current: () => Reply, context: FaultContext): Effect {
  const { call } = context;
  switch (action.type) {
    case 'status':
      return { reply: statusReply(action, call, context.now()) };
    case 'body':
      return { reply: bodyReply(action, call) };
    case 'redirect':
      return { reply: redirectReply(action, call) };
    case 'headers':
      return { reply: changeHeaders(current(), action, call) };
    case 'patch':
      return { reply: patchReply(action, current(), context) };
    case 'spoil':
      return { reply: spoil(current(), action.how) };
    case 'cursor':
      return { reply: breakCursor(action.mode, current, context) };
    case 'answer-as':
      return { reply: context.answer(context.targetOf(otherUrl(action, call))) };
    case 'gzip-bomb':
      return {
        reply: { ...jsonReply(200, '', { 'content-encoding': 'gzip' }), body: gzipBomb(action.bytes) },
      };
    case 'revise':
      context.revise(revisionFor(action.revision, call));
      return {};
    case 'delay':
      return { delayMs: action.ms };
    default:
      return { delivery: deliveryOf(action) };
  }
}

function changeHeaders(reply: Reply, { set }: HeadersAction, call: Call): Reply {
  const names = new Map(Object.entries(reply.headers));
  for (const [name, value] of Object.entries(set)) {
    if (value === null) names.delete(name.toLowerCase());
    else names.set(name.toLowerCase(), fillHeader(value, call));
  }
  return { ...reply, headers: Object.fromEntries(names) };
}

function patchReply({ operations }: PatchAction, reply: Reply, { call, missed }: FaultContext): Reply {
  const filled = operations.map((operation) =>
    operation.op === 'set' ? { ...operation, value: fillTemplates(operation.value, call) } : operation,
  );
  const { json, changes } = patchJson(reply.body.toString(), filled);
  if (changes === 0) missed();
  return { ...reply, body: Buffer.from(json) };
}

function otherUrl({ path, query = {} }: AnswerAsAction, call: Call): string {
  const changed = new URLSearchParams(call.target.query);
  for (const [name, value] of Object.entries(query)) {
    if (value === null) changed.delete(name);
    else changed.set(name, fillTemplate(value, call));
  }
  return `${path ?? call.target.path}?${changed.toString()}`;
}

/** A revision may name what the request is about, such as the report `{{query.startAfter}}`. */
function revisionFor(request: RevisionRequest, call: Call): RevisionRequest {
  const { reportId } = request;
  return reportId === undefined ? request : { ...request, reportId: fillTemplate(reportId, call) };
}
