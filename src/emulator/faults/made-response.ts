import { SESSIONS_PATH } from '../../api/paths.ts';
import type { ApiCall } from '../http/api-call.ts';
import { type PreparedResponse, prepareJson } from '../http/prepared-response.ts';
import { titleOf } from '../http/refusal.ts';
import { writeSessionProblem } from '../sessions/refusal.ts';
import type { ActionOf } from './action.ts';
import { fillHeader, fillTemplate, fillTemplates } from './template.ts';

const CAPTIVE_PAGE =
  '<!doctype html><html><head><title>Sign in</title></head><body>Sign in to use this network.</body></html>';
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** A byte that never occurs in UTF-8, in quotes so that only the decoding fails. */
const INVALID_UTF8 = Buffer.from([0x22, 0xff, 0x22]);

/** Prepares the response of a status action. */
export function prepareStatus(action: ActionOf<'status'>, call: ApiCall, now: Date): PreparedResponse {
  const { status, title = titleOf(status), detail = `Injected fault ${status}` } = action;
  const isSession = call.target.path === SESSIONS_PATH;
  const made = { title, detail, status, requestId: call.target.requestId };
  const body = action.body ?? (isSession ? writeSessionProblem(status, detail, { title }) : made);
  return prepareJson(status, JSON.stringify(fillTemplates(body, call)), {
    ...fillHeaders(action.headers, call),
    ...retryAfter(action.retryAfter, call, now),
  });
}

/** Prepares the response of a body action. */
export function prepareBody(action: ActionOf<'body'>, call: ApiCall): PreparedResponse {
  const type =
    action.contentType ?? (action.html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8');
  const text = action.html ? CAPTIVE_PAGE : fillTemplate(action.text ?? '', call);
  return {
    status: action.status ?? 200,
    headers: fillHeaders({ 'content-type': type, ...action.headers }, call),
    body: action.base64 === undefined ? Buffer.from(text) : Buffer.from(action.base64, 'base64'),
  };
}

/** Prepares the response of a redirect action. */
export function prepareRedirect(action: ActionOf<'redirect'>, call: ApiCall): PreparedResponse {
  const location = fillHeader(action.location, call);
  return prepareJson(action.status ?? 302, JSON.stringify({ redirect: location }), { location });
}

/** Makes the bytes of a body invalid. */
export function spoil(body: Buffer, how: ActionOf<'spoil'>['how']): Buffer {
  switch (how) {
    case 'invalid-json':
      return Buffer.concat([body, Buffer.from('}')]);
    case 'truncated':
      return body.subarray(0, Math.floor(body.length / 2));
    case 'bom':
      return Buffer.concat([BYTE_ORDER_MARK, body]);
    case 'invalid-utf8': {
      const brace = body.indexOf(0x7b) + 1;
      return Buffer.concat([body.subarray(0, brace), INVALID_UTF8, Buffer.from(':0,'), body.subarray(brace)]);
    }
  }
}

function fillHeaders(headers: Readonly<Record<string, string>> = {}, call: ApiCall): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fillHeader(value, call)]),
  );
}

function retryAfter(
  wanted: ActionOf<'status'>['retryAfter'],
  call: ApiCall,
  now: Date,
): Record<string, string> {
  if (wanted === undefined) return {};
  if (typeof wanted !== 'object') return { 'retry-after': fillHeader(String(wanted), call) };
  return { 'retry-after': new Date(now.getTime() + wanted.dateInSeconds * 1_000).toUTCString() };
}
