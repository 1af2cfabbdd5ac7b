import { gzipSync } from 'node:zlib';
import { SESSIONS_PATH } from '../../contract/index.ts';
import { isRecord } from '../parse.ts';
import type { ApiCall } from '../request.ts';
import { type PreparedResponse, prepareJson, titleOf, writeSessionProblem } from '../response.ts';
import type { ActionOf, PatchOperation } from './action.ts';

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

/** The bomb consists of gzip members of this size, so that building it takes little memory. */
const MEMBER_BYTES = 1024 * 1024;
let member: Buffer | undefined;

/** Builds a valid gzip body that expands to `bytes` spaces, about a thousand times its own size. */
export function buildGzipBomb(bytes: number): Buffer {
  member ??= gzipSync(Buffer.alloc(MEMBER_BYTES, ' '));
  const whole = Math.floor(bytes / MEMBER_BYTES);
  const rest = gzipSync(Buffer.alloc(bytes % MEMBER_BYTES, ' '));
  return Buffer.concat([...new Array<Buffer>(whole).fill(member), rest]);
}

/** Replaces the placeholders in a text of an action. Unknown placeholders stay as they are. */
export function fillTemplate(text: string, { caller, target }: ApiCall): string {
  return text.replace(/\{\{([\w.]+)\}\}/g, (whole, name: string) => {
    if (name === 'apiKey') return caller.credential;
    if (name === 'requestId') return target.requestId;
    if (name === 'path') return target.path;
    if (name === 'url') return target.url;
    return name.startsWith('query.') ? (target.query.get(name.slice('query.'.length)) ?? '') : whole;
  });
}

/** Replaces the placeholders in the value of a header and percent-encodes what HTTP does not allow there. */
export function fillHeader(text: string, call: ApiCall): string {
  return fillTemplate(text, call).replace(/[^\t\x20-\x7e\x80-\xff]+/g, (part) =>
    encodeURIComponent(part.toWellFormed()),
  );
}

/** Replaces the placeholders in every text inside a JSON value. */
export function fillTemplates(value: unknown, call: ApiCall): unknown {
  if (typeof value === 'string') return fillTemplate(value, call);
  if (Array.isArray(value)) return value.map((item: unknown) => fillTemplates(item, call));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTemplates(item, call)]));
}

/** The patched JSON text and the number of changed places. */
interface Patched {
  readonly json: string;
  readonly changes: number;
}

/** Applies the operations in their order. A text that is not JSON is returned unchanged. */
export function patchJson(json: string, operations: readonly PatchOperation[]): Patched {
  let root: unknown;
  try {
    root = JSON.parse(json);
  } catch {
    return { json, changes: 0 };
  }
  const raws: string[] = [];
  // The marker does not occur in the text, so that it can be replaced by raw JSON afterwards.
  const marker = `raw${json.length}x`;
  const nonce = json.includes(marker) ? `${marker}${json.length}` : marker;
  let changes = 0;
  for (const operation of operations) {
    const [, ...steps] = operation.path
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    changes += walk(root, steps, (holder, key) => change(holder, key, operation, raws, nonce));
  }
  const text = JSON.stringify(root);
  return {
    json: text.replaceAll(new RegExp(`"${nonce}:(\\d+)"`, 'g'), (_, at: string) => raws[Number(at)] ?? ''),
    changes,
  };
}

/** Visits every place that the steps lead to. Returns the number of visits that changed something. */
function walk(
  node: unknown,
  steps: readonly string[],
  visit: (holder: object, key: string) => boolean,
): number {
  const [step, ...rest] = steps;
  if (step === undefined || typeof node !== 'object' || node === null) return 0;
  // Starts at the last element, because a visit may insert or remove elements.
  const keys = step === '*' ? Object.keys(node).reverse() : [step];
  let changes = 0;
  for (const key of keys) {
    if (rest.length === 0) changes += visit(node, key) ? 1 : 0;
    else if (Object.hasOwn(node, key)) changes += walk(valueAt(node, key), rest, visit);
  }
  return changes;
}

function change(
  holder: object,
  key: string,
  operation: PatchOperation,
  raws: string[],
  nonce: string,
): boolean {
  switch (operation.op) {
    case 'set':
      return put(holder, key, operation.value);
    case 'raw':
      return put(holder, key, `${nonce}:${raws.push(operation.text) - 1}`);
    case 'remove':
      if (!Object.hasOwn(holder, key)) return false;
      if (Array.isArray(holder)) return holder.splice(Number(key), 1).length > 0;
      return Reflect.deleteProperty(holder, key);
    case 'duplicate':
      if (!Array.isArray(holder) || !Object.hasOwn(holder, key)) return false;
      holder.splice(Number(key) + 1, 0, structuredClone(holder[Number(key)]));
      return true;
  }
}

function put(holder: object, key: string, value: unknown): boolean {
  if (Array.isArray(holder) && key !== '-' && !Object.hasOwn(holder, key)) return false;
  const place = Array.isArray(holder) && key === '-' ? String(holder.length) : key;
  // A definition, unlike an assignment, treats `__proto__` like any other key.
  return Reflect.defineProperty(holder, place, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function valueAt(node: object, key: string): unknown {
  if (Array.isArray(node)) return node[Number(key)];
  return isRecord(node) ? node[key] : undefined;
}
