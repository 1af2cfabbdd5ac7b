import { SESSIONS_PATH } from '../../api/paths.ts';
import type { Call } from '../http/incoming-request.ts';
import { jsonReply, type Reply } from '../http/prepared-response.ts';
import { titleOf } from '../http/refusal.ts';
import { sessionProblem } from '../sessions/refusal.ts';
import type { BodyAction, RedirectAction, SpoilAction, StatusAction } from './action.ts';
import { fillHeader, fillTemplate, fillTemplates } from './template.ts';

const CAPTIVE_PAGE =
  '<!doctype html><html><head><title>Sign in</title></head><body>Sign in to use this network.</body></html>';
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** A byte that never occurs in UTF-8, in quotes so that only the decoding fails. */
const INVALID_UTF8 = Buffer.from([0x22, 0xff, 0x22]);

/** The reply of a status action. */
export function statusReply(action: StatusAction, call: Call, now: Date): Reply {
  const { status, title = titleOf(status), detail = `Injected fault ${status}` } = action;
  const isSession = call.target.path === SESSIONS_PATH;
  const made = { title, detail, status, requestId: call.target.requestId };
  const body = action.body ?? (isSession ? sessionProblem(made) : made);
  return jsonReply(status, JSON.stringify(fillTemplates(body, call)), {
    ...fillHeaders(action.headers, call),
    ...retryAfter(action.retryAfter, call, now),
  });
}

/** The reply of a body action. */
export function bodyReply(action: BodyAction, call: Call): Reply {
  const type =
    action.contentType ?? (action.html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8');
  const text = action.html ? CAPTIVE_PAGE : fillTemplate(action.text ?? '', call);
  return {
    status: action.status ?? 200,
    headers: fillHeaders({ 'content-type': type, ...action.headers }, call),
    body: action.base64 === undefined ? Buffer.from(text) : Buffer.from(action.base64, 'base64'),
  };
}

/** The reply of a redirect action. */
export function redirectReply(action: RedirectAction, call: Call): Reply {
  const location = fillHeader(action.location, call);
  return jsonReply(action.status ?? 302, JSON.stringify({ redirect: location }), { location });
}

/** The reply with the bytes of its body made invalid. */
export function spoil(reply: Reply, how: SpoilAction['how']): Reply {
  return { ...reply, body: spoilt(reply.body, how) };
}

function spoilt(body: Buffer, how: SpoilAction['how']): Buffer {
  switch (how) {
    case 'invalid-json':
      return Buffer.concat([body, Buffer.from('}')]);
    case 'truncated':
      return body.subarray(0, Math.floor(body.length / 2));
    case 'bom':
      return Buffer.concat([BYTE_ORDER_MARK, body]);
    case 'invalid-utf8': {
      const brace = body.indexOf(0x7b) + 1;
      const field = Buffer.concat([INVALID_UTF8, Buffer.from(':0,')]);
      return Buffer.concat([body.subarray(0, brace), field, body.subarray(brace)]);
    }
  }
}

function fillHeaders(headers: Readonly<Record<string, string>> = {}, call: Call): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fillHeader(value, call)]),
  );
}

function retryAfter(wanted: StatusAction['retryAfter'], call: Call, now: Date): Record<string, string> {
  if (wanted === undefined) return {};
  if (typeof wanted !== 'object') return { 'retry-after': fillHeader(String(wanted), call) };
  return { 'retry-after': new Date(now.getTime() + wanted.dateInSeconds * 1_000).toUTCString() };
}
