import { UsageError } from '../../core/errors.ts';
import {
  anything,
  boolean,
  either,
  integer,
  listOf,
  mapOf,
  object,
  oneOf,
  orNull,
  type Parsed,
  type Parser,
  refuse,
  tagged,
  text,
} from '../parse.ts';
import { parseRevision } from '../revise.ts';

const BODY_BYTES_MAX = 1_000_000_000;
const status = integer(200, 599);
const delayMs = integer(0, 3_600_000);
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

/** Rejects names with characters that HTTP does not allow in the name of a header. */
function headersOf<Value>(value: Parser<Value>): Parser<Readonly<Record<string, Value>>> {
  return (json, at) => {
    const headers = mapOf(value)(json, at);
    const bad = Object.keys(headers).find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name));
    return bad === undefined ? headers : refuse(`${at}.${bad}`, 'a valid header name', bad);
  };
}

const yes: Parser<true> = (value, at) => {
  if (value === true) return true;
  throw new UsageError(`${at}: only true is accepted`, { hint: `leave ${at} out instead` });
};

/** Requires exactly one of some keys. */
function exactlyOne<T extends object>(keys: readonly string[], parser: Parser<T>): Parser<T> {
  return (value, at) => {
    const read = parser(value, at);
    if (keys.filter((key) => Object.hasOwn(read, key)).length === 1) return read;
    throw new UsageError(`${at}: needs exactly one of ${keys.join(', ')}`, {
      hint: `give one of them in ${at}`,
    });
  };
}

/** `path` is a JSON pointer. In it `*` stands for every element, and a final `-` for a new last element. */
const operation = tagged('op', {
  set: object({ path: pointer, value: anything }, {}),
  /** Inserts a JSON text unchanged, for example `1e400` or `9007199254740993`. */
  raw: object({ path: pointer, text: jsonText }, {}),
  remove: object({ path: pointer }, {}),
  /** Repeats a list element right after itself. */
  duplicate: object({ path: pointer }, {}),
});

/** One change to the JSON of a response. */
export type PatchOperation = Parsed<typeof operation>;

/** Seconds; or an HTTP date this many seconds from now; or any text. */
const retryAfter = either(
  either(integer(0), text, 'seconds or a text'),
  object({ dateInSeconds: integer(-1_000_000_000) }, {}),
  'a number of seconds, a text, or {"dateInSeconds": n}',
);

/** Reads one action of a rule. */
export const parseAction = tagged('type', {
  /** Responds with a status and the service's error body, or with `body`. */
  status: object(
    { status },
    { title: text, detail: text, body: anything, headers: headersOf(text), retryAfter },
  ),
  /** Responds with a text, with bytes, or with HTML like that of a captive portal; status 200 and JSON by default. */
  body: exactlyOne(
    ['text', 'base64', 'html'],
    object({}, { text, base64: text, html: yes, status, contentType: text, headers: headersOf(text) }),
  ),
  /** Sets headers of the response; null removes one. */
  headers: object({ set: headersOf(orNull(text)) }, {}),
  /** Redirects to any URL, with 302 by default. */
  redirect: object({ location: text }, { status: integer(300, 399) }),
  /** Changes the JSON of the response. The journal counts a patch that found nothing to change. */
  patch: object({ operations: listOf(operation) }, {}),
  /** Makes the bytes of the body invalid. */
  spoil: object({ how: oneOf('invalid-json', 'invalid-utf8', 'bom', 'truncated') }, {}),
  /**
   * Breaks the paging. `repeat` returns the request's own cursor, `cycle` one that starts the walk again; `missing`,
   * `null` and `empty` announce more without a usable cursor; `endless` always returns another cursor. On the readiness
   * list, `repeat` and `cycle` return the first page again.
   */
  cursor: object({ mode: oneOf('repeat', 'cycle', 'missing', 'null', 'empty', 'endless') }, {}),
  /** Responds as if the request had these parameters; null removes one. */
  'answer-as': object({}, { query: mapOf(orNull(text)), path: text }),
  /** Sends a gzip body that expands to this many bytes of spaces, about a thousand times its size. */
  'gzip-bomb': object({ bytes: integer(1, BODY_BYTES_MAX) }, {}),
  /** Revises the data before the response, so that a walk sees them change. */
  revise: object({ revision: parseRevision }, {}),
  /** Waits before the response. */
  delay: object({ ms: delayMs }, {}),
  /** Never responds. */
  hang: object({}, {}),
  /** Resets the TCP connection before the headers, or after this many bytes of the body. */
  reset: object({}, { afterBytes: bytes }),
  /** Ends the connection after this many bytes of the body. `framing` announces the full body; default `length`. */
  cut: object({ bytes }, { framing: oneOf('length', 'chunked', 'close') }),
  /** Sends the body in pieces, by default of 1 byte every 100 ms. */
  drip: object({}, { bytes: integer(1, BODY_BYTES_MAX), intervalMs: delayMs }),
  /** Ends the connection after the response; sends `connection: close` only if `announced`. */
  close: object({}, { announced: boolean }),
  /** Sends these bytes instead of an HTTP message, then ends the connection. */
  raw: exactlyOne(['text', 'base64'], object({}, { text, base64: text })),
  /** Sends a first line that is not HTTP. */
  'malformed-status-line': object({}, { line: text }),
  /** Sends headers of this many bytes, by default 131,072. */
  'oversized-headers': object({}, { bytes: integer(1, 16 * 1024 * 1024) }),
});

/**
 * What a fault rule does to the response. Texts may contain placeholders: `{{apiKey}}` is the credential as sent,
 * `{{requestId}}`, `{{path}}` and `{{url}}` come from the request, `{{query.NAME}}` is a parameter.
 */
export type Action = Parsed<typeof parseAction>;

/** The action of one type. */
export type ActionOf<Type extends Action['type']> = Extract<Action, { type: Type }>;
