import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Reason, RULES, UsageError } from '../core/errors.ts';
import type { Answer, CallOptions, ResponseStart } from '../http/index.ts';
import { TIMER_MS_MAX } from './limits.ts';

/** Options of one call, the second argument of every method. */
export interface RequestOptions {
  /** Ends this call. @default that of the client */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of one attempt in milliseconds. @default `requestTimeoutMs` of the client */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of repetitions of each request. @default `attempts` of the client − 1 */
  readonly retries?: number | undefined;
  /** Further headers. Those that are up to the client or its connection cannot be set. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Returns an answer of which parts were rejected, instead of throwing. @default that of the client */
  readonly allowPartial?: boolean | undefined;
}

/** A response without its body. */
export interface ResponseInfo {
  readonly status: number;
  /** By their names in lower case; without the key, if the service repeats it. */
  readonly headers: ResponseStart['headers'];
  /** The service's name for the request; undefined if the response does not name it. */
  readonly requestId: string | undefined;
}

/** A result, and the response that it was made of. */
export interface WithResponse<Result> {
  readonly result: Result;
  readonly response: ResponseInfo;
}

/** The promise of a call. */
export interface Call<Result> extends Promise<Result> {
  /** The result together with its response. It sends no further request. */
  withResponse(): Promise<WithResponse<Result>>;
}

/**
 * The items of a walk, over all pages. Every loop begins a new walk with its own requests; pages are requested as the
 * loop needs them.
 */
export interface Paged<Item, Page> extends AsyncIterable<Item> {
  /** The same walk page by page. */
  pages(): AsyncIterable<Page>;
  /** The same walk page by page, each page together with its response. */
  withResponse(): AsyncIterable<WithResponse<Page>>;
}

/** A result with the response that it was made of. */
export function respondedBy<Result>(
  { status, headers, requestId }: Answer,
  result: Result,
): WithResponse<Result> {
  return { result, response: { status, headers: headers?.() ?? {}, requestId } };
}

/** Makes the promise of a call. */
export function callOf<Result>(responded: Promise<WithResponse<Result>>): Call<Result> {
  const promise = responded.then(({ result }) => result);
  const withResponse = () => {
    // A caller who only awaits the other promise learns of the failure there.
    promise.catch(() => undefined);
    return responded;
  };
  return Object.assign(promise, { withResponse });
}

/** Makes a walk that every loop begins anew. */
export function pagedOf<Item, Page>(
  begin: () => AsyncIterable<WithResponse<Page>>,
  itemsOf: (page: Page) => readonly Item[],
): Paged<Item, Page> {
  const loop = <Value>(walk: () => AsyncIterator<Value>) => ({ [Symbol.asyncIterator]: walk });
  async function* pages() {
    for await (const { result } of begin()) yield result;
  }
  return {
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* itemsOf(page);
    },
    pages: () => loop(pages),
    withResponse: () => loop(() => begin()[Symbol.asyncIterator]()),
  };
}

/** More attempts than any caller waits for. */
const RETRIES_MAX = 1_000;
/** Headers that the client sends itself, and those that undici sets or refuses. A refusal by undici would be retried. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'accept', 'accept-encoding', 'content-type', 'user-agent'],
  ...['content-length', 'host', 'connection', 'transfer-encoding'],
  ...['expect', 'keep-alive', 'proxy-authorization', 'upgrade'],
]);

/**
 * The options of a call as the transport takes them.
 * @throws {UsageError} for a number out of range, or a header that cannot be replaced.
 */
export function callOptions(
  client: { readonly signal: AbortSignal },
  options: RequestOptions | undefined,
): CallOptions {
  const { signal = client.signal, timeoutMs, retries, headers } = options ?? {};
  checkSignal(signal);
  for (const [name, value, min, max] of [
    ['timeoutMs', timeoutMs, 1, TIMER_MS_MAX],
    ['retries', retries, 0, RETRIES_MAX],
  ] as const) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= min && value <= max))
      throw new UsageError(`${name} is ${value}, not a whole number from ${min} to ${max}`, {
        hint: `leave ${name} out for that of the client`,
      });
  }
  for (const [name, value] of Object.entries(headers ?? {})) checkHeader(name, value);
  return { signal, timeoutMs, headers, ...(retries === undefined ? {} : { attempts: retries + 1 }) };
}

/** @throws {UsageError} if it is not an AbortSignal. */
export function checkSignal(signal: unknown): void {
  if (signal instanceof AbortSignal) return;
  throw new UsageError('signal is not an AbortSignal', {
    hint: 'pass the signal of an AbortController, or AbortSignal.timeout',
  });
}

function checkHeader(name: string, value: unknown): void {
  if (OWN_HEADERS.has(name.toLowerCase()))
    throw new UsageError(`the header ${name} cannot be set`, {
      hint: 'leave it out: it is up to the client and its connection. Credentials of a proxy belong in its URL',
    });
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value as string);
  } catch (cause) {
    // The value may be a secret.
    throw new UsageError(`headers: "${name}" has a name or a value that HTTP does not allow`, {
      cause,
      hint: 'give a text without line breaks and other control characters',
    });
  }
}

/** Every reason code of an error of the client, with what it means. The other codes are those of the exporter. */
export const CLIENT_REASONS = {
  'key-rejected': 'the service does not accept the credential',
  'app-key-rejected': 'the application host does not accept the credential',
  'app-key-lacks-role': 'the credential may not read the readiness reports',
  'api-not-found': 'the host does not serve the API at this path',
  'readiness-not-found': 'the application host does not serve the readiness reports',
  'moved-away': 'the service redirects to another origin',
  'certificate-untrusted': 'the certificate of the server is not trusted',
  'timed-out': 'the time limit of an attempt is over',
  'long-wait': 'the service asks for a wait of more than 15 minutes',
  'proxy-failed': 'the proxy refuses the connection, or cannot be reached',
  'other-range': RULES['other-range'],
  'other-organization': RULES['other-organization'],
  'partial-status': RULES['partial-status'],
  'paging-flags': RULES['paging-flags'],
  'repeated-page': RULES['repeated-page'],
  'empty-pages': RULES['empty-pages'],
  'long-cursor': RULES['long-cursor'],
  'endless-walk': RULES['endless-walk'],
} as const satisfies Partial<Record<Reason, string>>;

/** A reason code of the client. */
export type ClientReason = keyof typeof CLIENT_REASONS;
