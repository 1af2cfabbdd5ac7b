import { hashText } from '../dataset/hash.ts';
import type { Delivery } from '../delivery.ts';
import { isRecord } from '../input.ts';
import { titleOf } from '../problem.ts';
import { jsonReply, type Reply } from '../reply.ts';
import type { RevisionRequest } from '../revise.ts';
import type { Call } from '../service.ts';
import type { Target } from '../target.ts';
import type { Action, AnswerAsAction, BodyAction, CursorAction, SpoilAction, StatusAction, TransportAction } from './action.ts';
import { gzipBomb } from './gzip-bomb.ts';
import { patchJson } from './patch.ts';
import { fillTemplate, fillTemplates } from './template.ts';

/** What actions need of their surroundings. */
export interface FaultContext {
  readonly call: Call;
  /** The answer without faults to this request, or to another one. */
  answer(target: Target): Reply;
  targetOf(url: string): Target;
  revise(request: RevisionRequest): void;
  now(): Date;
  /** Told when an action found nothing that it could change. */
  missed(): void;
}

const CAPTIVE_PAGE = '<!doctype html><html><head><title>Sign in</title></head><body>Sign in to the network.</body></html>';

/** The answer after all actions, in their order. The fault-free answer is made only when an action builds on it. */
export function applyActions(actions: readonly Action[], context: FaultContext): Reply {
  let made: Reply | undefined;
  const current = (): Reply => made ?? context.answer(context.call.target);
  for (const action of actions) made = applyAction(action, current, context);
  return current();
}

function applyAction(action: Action, current: () => Reply, context: FaultContext): Reply {
  const { call } = context;
  switch (action.type) {
    case 'status':
      return statusReply(action, context);
    case 'body':
      return bodyReply(action, call);
    case 'headers':
      return { ...current(), headers: changedHeaders(current().headers, action.set, call) };
    case 'redirect': {
      const location = fillTemplate(action.location, call);
      return jsonReply(action.status ?? 302, JSON.stringify({ redirect: location }), { location });
    }
    case 'patch':
      return patched(current(), (json) => patchJson(json, operationsFor(action.operations, call)), context);
    case 'spoil':
      return { ...current(), body: spoil(current().body, action.how) };
    case 'cursor':
      return brokenCursor(action.mode, current, context);
    case 'answer-as':
      return context.answer(context.targetOf(otherUrl(call.target, action, call)));
    case 'gzip-bomb':
      return withHeaders(jsonReply(200, ''), { 'content-encoding': 'gzip' }, gzipBomb(action.bytes));
    case 'revise':
      context.revise(revisionFor(action.revision, call));
      return current();
    case 'delay':
      return { ...current(), delayMs: (current().delayMs ?? 0) + action.ms };
    default:
      return { ...current(), delivery: deliveryOf(action) };
  }
}
