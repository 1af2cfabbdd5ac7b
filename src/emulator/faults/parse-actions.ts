import { UsageError } from '../../core/errors.ts';
import {
  anything,
  boolean,
  either,
  integer,
  isRecord,
  listOf,
  mapOf,
  object,
  oneOf,
  orNull,
  type Parser,
  refuse,
  tagged,
  text,
} from '../input/parse.ts';
import { revisionRequest } from '../world/revision-request.ts';
import type { Action, PatchOperation } from './action.ts';

const BODY_BYTES_MAX = 1_000_000_000;
const STATUS = integer(200, 599);
const DELAY_MS = integer(0, 3_600_000);
const bytes = integer(0, BODY_BYTES_MAX);

const pointer: Parser<string> = (value, at) => {
  const path = text(value, at);
  if (path.startsWith('/')) return path;
  throw new UsageError(`${at}: ${JSON.stringify(path)} is not a JSON pointer`, {
    hint: 'write it as /data/0/user_id, with * for every element',
  });
};

const jsonText: Parser<string> = (value, at) => {
  const raw = text(value, at);
  try {
    JSON.parse(raw);
    return raw;
  } catch (cause) {
    throw new UsageError(`${at}: ${JSON.stringify(raw)} is not JSON text`, {
      cause,
      hint: 'a raw value must be one JSON value, for example 1e400; use the action body for anything else',
    });
  }
};

const operation: Parser<PatchOperation> = (value, at) => {
  const { op, ...rest } = isRecord(value) ? value : { op: undefined };
  switch (oneOf('set', 'raw', 'remove', 'duplicate')(op, `${at}.op`)) {
    case 'set':
      return { op: 'set', ...object({ path: pointer, value: anything }, {})(rest, at) };
    case 'raw':
      return { op: 'raw', ...object({ path: pointer, text: jsonText }, {})(rest, at) };
    case 'remove':
      return { op: 'remove', ...object({ path: pointer }, {})(rest, at) };
    case 'duplicate':
      return { op: 'duplicate', ...object({ path: pointer }, {})(rest, at) };
  }
};

/** The names of headers, which HTTP limits to these characters. */
function headersOf<Value>(value: Parser<Value>): Parser<Readonly<Record<string, Value>>> {
  return (json, at) => {
    const headers = mapOf(value)(json, at);
    const bad = Object.keys(headers).find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name));
    return bad === undefined ? headers : refuse(`${at}.${bad}`, 'named as a header can be', bad);
  };
}

const yes: Parser<true> = (value, at) => {
  if (value === true) return true;
  throw new UsageError(`${at}: only true is accepted`, { hint: `leave ${at} out instead` });
};

const retryAfter = either(
  either(integer(0), text, 'seconds or a text'),
  object({ dateInSeconds: integer(-1_000_000_000) }, {}),
  'a number of seconds, a text, or {"dateInSeconds": n}',
);

/** Demands that exactly one of some keys is there. */
function exactlyOne<T extends object>(keys: readonly string[], parser: Parser<T>): Parser<T> {
  return (value, at) => {
    const read = parser(value, at);
    if (keys.filter((key) => Object.hasOwn(read, key)).length === 1) return read;
    throw new UsageError(`${at}: needs exactly one of ${keys.join(', ')}`, {
      hint: `give one of them in ${at}`,
    });
  };
}

/** Reads one action of a rule. */
export const action: Parser<Action> = tagged({
  status: object(
    { status: STATUS },
    { title: text, detail: text, body: anything, headers: headersOf(text), retryAfter },
  ),
  body: exactlyOne(
    ['text', 'base64', 'html'],
    object(
      {},
      { text, base64: text, html: yes, status: STATUS, contentType: text, headers: headersOf(text) },
    ),
  ),
  headers: object({ set: headersOf(orNull(text)) }, {}),
  redirect: object({ location: text }, { status: integer(300, 399) }),
  patch: object({ operations: listOf(operation) }, {}),
  spoil: object({ how: oneOf('invalid-json', 'invalid-utf8', 'bom', 'truncated') }, {}),
  cursor: object({ mode: oneOf('repeat', 'cycle', 'missing', 'null', 'empty', 'endless') }, {}),
  'answer-as': object({}, { query: mapOf(orNull(text)), path: text }),
  'gzip-bomb': object({ bytes: integer(1, BODY_BYTES_MAX) }, {}),
  revise: object({ revision: revisionRequest }, {}),
  delay: object({ ms: DELAY_MS }, {}),
  hang: object({}, {}),
  reset: object({}, { afterBytes: bytes }),
  cut: object({ bytes }, { framing: oneOf('length', 'chunked', 'close') }),
  drip: object({}, { bytes: integer(1, BODY_BYTES_MAX), intervalMs: DELAY_MS }),
  close: object({}, { announced: boolean }),
  raw: exactlyOne(['text', 'base64'], object({}, { text, base64: text })),
  'malformed-status-line': object({}, { line: text }),
  'oversized-headers': object({}, { bytes: integer(1, 16 * 1024 * 1024) }),
});
