import { UTCDateMini } from '@date-fns/utc/date/mini';
import { isValid } from 'date-fns/isValid';
import { parse } from 'date-fns/parse';
import { READINESS_PATH, SESSIONS_PATH } from '../contract/index.ts';
import type { Clock } from '../core/clock.ts';
import { type Advice, UnitError } from '../core/errors.ts';
import { isObject, parseJson } from '../core/json.ts';
import {
  ApiError,
  type ApiErrorOptions,
  BadRequestError,
  CredentialError,
  OverloadError,
  type ProblemDetails,
  problemDetailsCheck,
  RequestError,
  ServerError,
} from './errors.ts';
import { decodeUtf8, type Headers, type HttpResponse, headerOf, isAnswer, release } from './exchange.ts';

/** What texts of the service become before anything else sees them. */
export interface Passage {
  /** A JSON text. */
  json(text: string): string;
  /** Any other text, or JSON. */
  any(text: string): string;
  /** The body of an error. @default as any other text */
  body?(text: string): string;
}

/** Headers of a response by their names in lower case. Values of a repeated header are joined by a comma. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** Status and headers of a response, without the key. */
export interface ResponseHead {
  readonly status: number;
  /** The service's name for the request. */
  readonly requestId: string | undefined;
  /** Computed when called, because few callers need them. */
  readonly headers: () => ResponseHeaders;
}

/** Reads status and headers. */
export type HeadReader = (status: number, headers: Headers) => ResponseHead;

/** Creates a reader of heads. */
export function headReader(passage: Passage): HeadReader {
  return (status, headers) => {
    const id = headerOf(headers, 'x-request-id');
    return { status, requestId: id && passage.any(id), headers: () => plainHeaders(headers, passage) };
  };
}

function plainHeaders(headers: Headers, passage: Passage): ResponseHeaders {
  const given = Object.entries(headers).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : value;
    return text === undefined ? [] : [[name, passage.any(text)] as const];
  });
  return Object.fromEntries(given);
}

/** A complete response with a JSON body. */
export interface Answer {
  readonly status: number;
  /** The parsed body; its shape is not checked yet. */
  readonly body: unknown;
  /** The text of the body. It has digits that a parsed number loses. */
  readonly text: string;
  readonly requestId: string | undefined;
  /** Method, path and query of the request; undefined if the answer was stored without them. */
  readonly target?: string | undefined;
  /** The Date header, unparsed: few callers need it, and parsing takes time. */
  readonly date?: string | undefined;
  /** All headers; undefined if the answer was stored without them. */
  readonly headers?: (() => ResponseHeaders) | undefined;
}

/** Reads the response to the request that `name` names: one that reads, or one that creates something. */
export type AnswerReader = (response: HttpResponse, name: string, purpose: 'read' | 'creation') => Answer;

/** The only status of a complete answer to a read. Statuses such as 202, 203 and 206 do not promise one. */
const FULL = 200;

/**
 * Creates a reader of responses: their texts go through the passage, then they are parsed. It throws {@link
 * RequestError} for a body that is not JSON, the error of a status that is not 2xx, and {@link UnitError} if a read is
 * answered with 2xx other than 200.
 */
export function answerReader({
  passage,
  clock,
}: {
  readonly passage: Passage;
  readonly clock: Clock;
}): AnswerReader {
  const headOf = headReader(passage);
  return ({ status, headers: sent, body }, name, purpose) => {
    const { requestId, headers } = headOf(status, sent);
    if (purpose === 'read' && status !== FULL && status >= 200 && status <= 299)
      throw partialError(status, name);
    if (!isAnswer(status, sent)) {
      if (status < 200 || status > 299) {
        throw errorOfStatus({
          target: name,
          status,
          headers: sent,
          requestId,
          body: (passage.body ?? passage.any)(body.toString('utf8')),
          now: clock.now(),
        });
      }
      throw notJsonError(name, passage.any(`${status} with ${headerOf(sent, 'content-type')}`));
    }
    const text = decodeUtf8(body);
    release(body);
    if (text === undefined) throw malformedError(name, 'bytes that are not UTF-8');
    const date = headerOf(sent, 'date');
    // A page of a proxy or a login may come without a type too.
    if (headerOf(sent, 'content-type') === undefined && /^\s*</.test(text))
      throw notJsonError(name, `${status} with no content type`);
    return { status, ...parseBody(text, name, passage), requestId, target: name, date, headers };
  };
}

function notJsonError(name: string, what: string): RequestError {
  return new RequestError(`${name} answered ${what}, not JSON`, {
    target: name,
    unreached: 'not-json',
    hint: 'a proxy or a login page may stand between this machine and the service',
  });
}

function partialError(status: number, name: string): UnitError {
  return new UnitError(`${name} answered ${status}, which is not a full answer`, {
    target: name,
    reason: 'partial-status',
    hint: 'a proxy or cache may stand between this machine and the service; ask again later',
  });
}

function parseBody(sent: string, name: string, passage: Passage): { body: unknown; text: string } {
  try {
    const text = passage.json(sent);
    return { body: JSON.parse(text), text };
  } catch (error) {
    // The parser quotes the text, and a text that is no JSON has not passed.
    if (error instanceof SyntaxError) throw malformedError(name, 'text that is not JSON');
    throw error;
  }
}

function malformedError(name: string, what: string): RequestError {
  // The network may break a response once; twice is the server's fault.
  return new RequestError(`${name} answered ${what}`, { target: name, attemptsMax: 2 });
}

const REDACTED = '[redacted]';

/** A shorter text is not a key, and redacting it would damage other texts. */
const KEY_CHARS_MIN = 8;

/**
 * Removes the API key from what the service sends: it must not reach a table, a log or a quarantined record. A JSON text
 * may write any of its characters as an escape.
 */
function keyRedactor(apiKey: string): (text: string) => string {
  if (apiKey.length < KEY_CHARS_MIN) return (text) => text;
  const written = new RegExp([...apiKey].map(waysToWrite).join(''), 'g');
  // Only a text with escapes can hold the key in another form. Most have none, and this search is cheap.
  return (text) => (text.includes(apiKey) || text.includes('\\') ? text.replace(written, REDACTED) : text);
}

/**
 * Adds to a passage that keys of the API are removed; the longest first, because one may be part of another.
 * @param passage default: nothing else
 */
export function withoutKeys(keys: readonly string[], passage?: Passage): Passage {
  const redactors = [...new Set(keys)].sort((a, b) => b.length - a.length).map(keyRedactor);
  const redact = (text: string) => redactors.reduce((rest, one) => one(rest), text);
  if (passage === undefined) return { json: redact, any: redact };
  const { body = passage.any } = passage;
  return {
    json: (text) => passage.json(redact(text)),
    any: (text) => passage.any(redact(text)),
    body: (text) => body(redact(text)),
  };
}

function waysToWrite(char: string): string {
  const hex = char.charCodeAt(0).toString(16).padStart(4, '0');
  const code = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = char.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `(?:\\\\?${plain}|\\\\u${code})`;
}

/** Maximum number of characters of the server's text in an error message. */
const DETAIL_CHARS_MAX = 300;

/** A response whose status is an error. */
interface ErrorResponse {
  readonly target: string;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** The part of the body that was read. */
  readonly body: string;
  /** This machine's clock, used if the server sent no Date. */
  readonly now: Date;
}

/** The error for a status, with what the body says (specification, section 7). */
function errorOfStatus(response: ErrorResponse): ApiError {
  const problem = parseProblem(response.body);
  const requestId = problem.requestId ?? response.requestId;
  const serverDate = parseHttpDate(headerOf(response.headers, 'date') ?? '');
  const { target, status } = response;
  const options: ApiErrorOptions = { target, status, problem, requestId, serverDate };
  const message = describe(response, problem, requestId);
  if (status === 400) return new BadRequestError(message, options);
  if (status === 401 || status === 403)
    return new CredentialError(message, { ...options, ...credentialAdvice(status, target) });
  if (status === 429 || status === 503) {
    const retryAfterMs = parseRetryAfter(
      headerOf(response.headers, 'retry-after'),
      serverDate ?? response.now,
    );
    return new OverloadError(message, { ...options, retryAfterMs });
  }
  if (status >= 500 || status === 408 || status === 425) return new ServerError(message, options);
  return new ApiError(message, {
    ...options,
    ...(status === 404 ? notFoundAdvice(target) : {}),
  });
}

function credentialAdvice(status: 401 | 403, target: string): Advice {
  const isReadiness = target.includes(READINESS_PATH);
  if (status === 401) {
    return {
      hint: 'the key is missing, mistyped, expired or revoked',
      reason: isReadiness ? 'app-key-rejected' : 'key-rejected',
    };
  }
  if (isReadiness) {
    return {
      hint: 'the user of this credential may not read the readiness reports',
      reason: 'app-key-lacks-role',
    };
  }
  return { hint: target.includes(SESSIONS_PATH) ? HINT_403_SESSIONS : HINT_403 };
}

const HINT_403 =
  'the key must belong to a user with the Manager or Owner role, and analytics must be enabled for the organization';
const HINT_403_SESSIONS =
  'only selected organizations may create sessions, and yours may not be one of them; ask its owner';

function notFoundAdvice(target: string): Advice {
  return target.includes(READINESS_PATH)
    ? {
        hint: 'check the URL of the application host: this host does not serve the readiness reports',
        reason: 'readiness-not-found',
      }
    : {
        hint: 'check the URLs of the hosts: this host does not serve the API there',
        reason: 'api-not-found',
      };
}

function describe(response: ErrorResponse, problem: ProblemDetails, requestId: string | undefined): string {
  const said = problem.detail ?? problem.title ?? foreignText(response);
  const detail = said === undefined ? '' : `: ${said.slice(0, DETAIL_CHARS_MAX)}`;
  const metadata = problem.metadata === undefined ? '' : ` ${JSON.stringify(problem.metadata)}`;
  const id = requestId === undefined ? '' : ` (requestId ${requestId})`;
  return `${response.target} answered ${response.status}${detail}${metadata.slice(0, DETAIL_CHARS_MAX)}${id}`;
}

/**
 * The body of a readiness error on one line: JSON or plain text, because its shape is not documented. HTML pages of
 * proxies are left out: their first lines do not say what went wrong.
 */
function foreignText({ target, headers, body }: ErrorResponse): string | undefined {
  if (!target.includes(READINESS_PATH)) return undefined;
  const type = headerOf(headers, 'content-type') ?? '';
  if (!/^(text\/plain|application\/([\w.+-]+\+)?json)\b/i.test(type)) return undefined;
  const text = body.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return text === '' || text === '{}' ? undefined : text;
}

/** The valid fields of an error body. Each counts by itself, because proxies answer with errors too. */
function parseProblem(body: string): ProblemDetails {
  // Proxies answer in HTML or plain text; then the status alone decides.
  const value = parseJson(body);
  if (!isObject(value)) return {};
  const fields = Object.entries(value).filter(([name, field]) =>
    problemDetailsCheck.Check({ [name]: field }),
  );
  return Object.fromEntries(fields);
}

/**
 * Milliseconds that a `Retry-After` header asks to wait: whole seconds, or an HTTP date read against the server's
 * own clock. Undefined for anything else; a date in the past is 0.
 */
export function parseRetryAfter(header: string | undefined, serverNow: Date): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text, serverNow);
  return date === undefined ? undefined : Math.max(0, date.getTime() - serverNow.getTime());
}

/** The forms of an HTTP date (RFC 9110, section 5.6.7): one to send, and two older ones that recipients accept. */
const FORMS: readonly (readonly [shape: RegExp, format: string])[] = [
  [/^\w{3}, (\d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2}) GMT$/, 'dd MMM yyyy HH:mm:ss X'],
  [/^\w{6,9}, (\d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2}) GMT$/, 'dd-MMM-yy HH:mm:ss X'],
  [/^\w{3} (\w{3} \d{1,2} \d{2}:\d{2}:\d{2} \d{4})$/, 'MMM d HH:mm:ss yyyy X'],
];

/** Without the formats of the library's larger class, which take ten milliseconds to create. */
const utc = (value: Date | number | string) => new UTCDateMini(value);

/** By default, years of two digits are those of this century. */
const CENTURY_MS = Date.UTC(2050, 0);

/**
 * The instant of an HTTP date; undefined when it is none.
 * @param near a year of two digits is at most 50 years from it (RFC 9110, section 5.6.7)
 */
export function parseHttpDate(text: string, near: Date | number = CENTURY_MS): Date | undefined {
  const words = text.replace(/ +/g, ' ');
  for (const [shape, format] of FORMS) {
    const match = shape.exec(words)?.[1];
    const date = match === undefined ? undefined : parse(`${match} Z`, format, near, { in: utc });
    if (date !== undefined && isValid(date)) return date;
  }
  return undefined;
}
