import type { ApiCall } from '../http/api-call.ts';
import {
  type Delivery,
  type PreparedResponse,
  prepareJson,
  showsResponse,
} from '../http/prepared-response.ts';
import type { RevisionRequest } from '../world/revision-request.ts';
import type { Action, ActionOf } from './action.ts';
import type { FaultContext } from './context.ts';
import { breakCursor } from './cursor.ts';
import { buildGzipBomb } from './gzip-bomb.ts';
import { prepareBody, prepareRedirect, prepareStatus, spoil } from './made-response.ts';
import { patchJson } from './patch.ts';
import { fillHeader, fillTemplate, fillTemplates } from './template.ts';
import { toDelivery } from './transport.ts';

/** The effect of one action: a changed response, a delivery, or a wait. */
interface Effect {
  readonly response?: PreparedResponse;
  readonly delivery?: Delivery;
  readonly delayMs?: number;
}

/** Applies all actions in their order. The fault-free response is prepared only if something needs it. */
export function applyActions(actions: readonly Action[], context: FaultContext): PreparedResponse {
  let made: PreparedResponse | undefined;
  let delivery: Delivery | undefined;
  let delayMs = 0;
  const current = (): PreparedResponse => made ?? context.answer();
  for (const action of actions) {
    const effect = applyAction(action, current, context);
    made = effect.response ?? made;
    delivery = effect.delivery ?? delivery;
    delayMs += effect.delayMs ?? 0;
  }
  if (delivery === undefined) return { ...current(), delayMs };
  // If the delivery shows no response, none is prepared.
  return { ...(showsResponse(delivery) ? current() : prepareJson(200, '')), delivery, delayMs };
}

function applyAction(action: Action, current: () => PreparedResponse, context: FaultContext): Effect {
  const { call } = context;
  switch (action.type) {
    case 'status':
      return { response: prepareStatus(action, call, context.now()) };
    case 'body':
      return { response: prepareBody(action, call) };
    case 'redirect':
      return { response: prepareRedirect(action, call) };
    case 'headers':
      return { response: changeHeaders(current(), action, call) };
    case 'patch':
      return { response: patchResponse(action, current(), context) };
    case 'spoil':
      return { response: { ...current(), body: spoil(current().body, action.how) } };
    case 'cursor':
      return { response: breakCursor(action.mode, current, context) };
    case 'answer-as':
      return { response: context.answer(changeUrl(action, call)) };
    case 'gzip-bomb': {
      const plain = prepareJson(200, '', { 'content-encoding': 'gzip' });
      return { response: { ...plain, body: buildGzipBomb(action.bytes) } };
    }
    case 'revise':
      context.revise(fillRevision(action.revision, call));
      return {};
    case 'delay':
      return { delayMs: action.ms };
    default:
      return { delivery: toDelivery(action) };
  }
}

function changeHeaders(
  response: PreparedResponse,
  { set }: ActionOf<'headers'>,
  call: ApiCall,
): PreparedResponse {
  const headers = new Map(Object.entries(response.headers));
  for (const [name, value] of Object.entries(set)) {
    if (value === null) headers.delete(name.toLowerCase());
    else headers.set(name.toLowerCase(), fillHeader(value, call));
  }
  return { ...response, headers: Object.fromEntries(headers) };
}

function patchResponse(
  { operations }: ActionOf<'patch'>,
  response: PreparedResponse,
  { call, missed }: FaultContext,
): PreparedResponse {
  const filled = operations.map((operation) =>
    operation.op === 'set' ? { ...operation, value: fillTemplates(operation.value, call) } : operation,
  );
  const { json, changes } = patchJson(response.body.toString(), filled);
  if (changes === 0) missed();
  return { ...response, body: Buffer.from(json) };
}

function changeUrl({ path, query = {} }: ActionOf<'answer-as'>, call: ApiCall): string {
  const changed = new URLSearchParams(call.target.query);
  for (const [name, value] of Object.entries(query)) {
    if (value === null) changed.delete(name);
    else changed.set(name, fillTemplate(value, call));
  }
  return `${path ?? call.target.path}?${changed.toString()}`;
}

/** A revision may name a report of the request, such as `{{query.startAfter}}`. */
function fillRevision(request: RevisionRequest, call: ApiCall): RevisionRequest {
  const { reportId } = request;
  return reportId === undefined ? request : { ...request, reportId: fillTemplate(reportId, call) };
}
