import { BEFORE_ALL, endlessCursor } from '../endpoints/lies.ts';
import { isRecord } from '../parse.ts';
import type { ApiCall } from '../request.ts';
import { type Delivery, type PreparedResponse, prepareJson, showsResponse } from '../response.ts';
import type { RevisionRequest } from '../revise.ts';
import type { Action, ActionOf } from './action.ts';
import {
  buildGzipBomb,
  fillHeader,
  fillTemplate,
  fillTemplates,
  patchJson,
  prepareBody,
  prepareRedirect,
  prepareStatus,
  spoil,
} from './faulty-response.ts';

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

/** The request, and the functions that an action may call. */
interface FaultContext {
  readonly call: ApiCall;
  /** Prepares the response without faults to this request, or to the same request with another URL. */
  answer(url?: string): PreparedResponse;
  revise(request: RevisionRequest): void;
  now(): Date;
  /** Call it when an action found nothing to change. */
  missed(): void;
}

type Mode = ActionOf<'cursor'>['mode'];

/** Breaks the cursor of a response. Reports a miss if the response has no paging. */
function breakCursor(
  mode: Mode,
  current: () => PreparedResponse,
  { call, answer, missed }: FaultContext,
): PreparedResponse {
  const { stream, path, query } = call.target;
  if (stream === 'readiness' && (mode === 'repeat' || mode === 'cycle')) {
    const first = new URLSearchParams(query);
    first.delete('startAfter');
    return answer(`${path}?${first.toString()}`);
  }
  const response = current();
  const body: unknown =
    stream === 'users' && response.status === 200 ? JSON.parse(response.body.toString()) : null;
  if (!isRecord(body) || !isRecord(body['meta'])) {
    missed();
    return response;
  }
  const next_cursor = chooseBrokenCursor(mode, query.get('cursor'), body['meta']);
  // A field that is undefined is left out of the JSON.
  const meta = { ...body['meta'], has_more: true, next_cursor };
  return { ...response, body: Buffer.from(JSON.stringify({ ...body, meta })) };
}

function chooseBrokenCursor(mode: Mode, sent: string | null, meta: Record<string, unknown>): unknown {
  switch (mode) {
    case 'repeat':
      return sent ?? meta['next_cursor'];
    case 'cycle':
      return BEFORE_ALL;
    case 'missing':
      return undefined;
    case 'null':
      return null;
    case 'empty':
      return '';
    case 'endless':
      return endlessCursor(sent ?? '');
  }
}

type TransportAction = ActionOf<
  'hang' | 'reset' | 'cut' | 'drip' | 'close' | 'raw' | 'malformed-status-line' | 'oversized-headers'
>;

const PADDING_CHARS = 1_000;
const OVERSIZED_BYTES = 128 * 1024;

/** Translates a transport action into the delivery of the response. */
function toDelivery(action: TransportAction): Delivery {
  switch (action.type) {
    case 'hang':
      return { type: 'hang' };
    case 'reset':
      return { type: 'reset', afterBytes: action.afterBytes ?? null };
    case 'cut':
      return { type: 'cut', bytes: action.bytes, framing: action.framing ?? 'length' };
    case 'drip':
      return { type: 'drip', bytes: action.bytes ?? 1, intervalMs: action.intervalMs ?? 100 };
    case 'close':
      return { type: 'fin', announced: action.announced ?? false };
    case 'raw':
      return {
        type: 'raw',
        bytes:
          action.base64 === undefined ? Buffer.from(action.text ?? '') : Buffer.from(action.base64, 'base64'),
      };
    case 'malformed-status-line':
      return { type: 'raw', bytes: message(action.line ?? 'HTTP/1.1 two hundred', []) };
    case 'oversized-headers':
      return { type: 'raw', bytes: message('HTTP/1.1 200 OK', padding(action.bytes ?? OVERSIZED_BYTES)) };
  }
}

function message(firstLine: string, headers: readonly string[]): Buffer {
  const lines = [firstLine, 'content-type: application/json', 'content-length: 2', ...headers];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n{}`, 'latin1');
}

function padding(bytes: number): string[] {
  const count = Math.ceil(bytes / PADDING_CHARS);
  return Array.from({ length: count }, (_, index) => `x-padding-${index}: ${'x'.repeat(PADDING_CHARS)}`);
}
