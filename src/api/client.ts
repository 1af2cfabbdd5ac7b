import { setMaxListeners } from 'node:events';
import { tables, tablesOf } from '../../schema/tables.ts';
import { type RowCheck, rowCheck } from '../checks/index.ts';
import {
  ActivityByClientRow,
  ActivityRow,
  MODEL_KEYS,
  ProductivityRow,
  type ReadinessReport,
  TokensByModelRow,
  TokensRow,
  ToolsByToolRow,
  ToolsRow,
  type UserRow,
} from '../contract/index.ts';
import { parseOrigin, parseProxy } from '../core/addresses.ts';
import { systemClock, systemRandom } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { packageVersion } from '../core/files.ts';
import {
  createTransport,
  type RequestDispatcher,
  type RequestStart,
  type ResponseStart,
  type Retry,
  type TransportOptions,
} from '../http/index.ts';
import { possibleRows } from './answer-rules.ts';
import {
  type Call,
  callOf,
  callOptions,
  checkSignal,
  type Paged,
  type RequestOptions,
  respondedBy,
} from './calls.ts';
import {
  type DayRange,
  type GroupedRead,
  type ReadContext,
  type ReportsPage,
  type ReportsQuery,
  type Rows,
  readerOf,
  readReports,
  readRows,
  readUsers,
  type UsersQuery,
} from './client-reads.ts';
import { createSession, type Session } from './create-session.ts';
import { TIMER_MS_MAX } from './limits.ts';
import type { Hosts } from './requests.ts';
import type { KnownIdentifiers, SessionRequest, SessionWarning } from './session-request.ts';

/**
 * The typed client of the service. Metrics and labels may be null or missing; identities never are. Unknown fields are
 * kept. Every call is paced and repeated according to {@link ClientOptions}. All calls except `createSession` are reads
 * and may be repeated. An answer of which parts cannot be used rejects with `PartialAnswerError`, one for another range with
 * `UnitError`, unless `allowPartial` is set. All calls reject with `CredentialError` (401, 403), `BadRequestError` (400), `OverloadError` (429, 503),
 * `ServerError` (other 5xx), `RequestError` (no usable response), or `UsageError` before anything is sent.
 */
export interface Client {
  /** Credits per day, nested by model and user; with `groupBy`, one row per day and model (section 4.2). */
  readonly tokens: GroupedRead<'model', TokensRow, TokensByModelRow>;
  /** Tool usage per day; with `groupBy`, one row per day and tool (section 4.2, rule 3). */
  readonly tools: GroupedRead<'tool_name', ToolsRow, ToolsByToolRow>;
  /** Active users per day; with `groupBy`, one row per day and client type (section 4.2, rule 4). */
  readonly activity: GroupedRead<'client', ActivityRow, ActivityByClientRow>;
  /** Files and git work per day (section 4.2). */
  productivity(query: DayRange, options?: RequestOptions): Call<Rows<ProductivityRow>>;
  /**
   * The users of each day (section 4.2), one row per user and day: `for await (const user of client.users(query))`.
   * `limit` is the number of users per page, 1 to 100 (default 100). `cursor` resumes after an earlier page: its
   * `meta.next_cursor`, if its `meta.has_more` is true; without a cursor, the walk begins at the first page.
   */
  users(query: UsersQuery, options?: RequestOptions): Paged<UserRow, Rows<UserRow>>;
  /**
   * The readiness reports (section 4.3). `startAfter` resumes after a report; no order is promised. `limit` is the number
   * of reports per page (default 100, or fewer if the service answers 400 to that).
   */
  readinessReports(query?: ReportsQuery, options?: RequestOptions): Paged<ReadinessReport, ReportsPage>;
  /**
   * Creates a session on a computer (section 4.1). `apiKey` may be an API key or a JWT. **Not idempotent**: every
   * successful call creates one more session. The client repeats it only if the service provably did not carry out the
   * request: it never arrived, or the service answered 429.
   * @throws {UsageError} naming every invalid property with its path; nothing was sent.
   * @throws {UnknownOutcomeError} when a session was or may have been created; check before you try again.
   */
  createSession(request: SessionRequest, options?: Omit<RequestOptions, 'allowPartial'>): Call<Session>;
  /** Closes the connections, and rejects calls in progress. A given dispatcher stays open. May be repeated. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const DAY = ['date'];
// Unlike the breakdowns of a day, whose keys may repeat and are summed, a grouped answer has one row per day and group.
const GROUP = ['date', 'group_key'];
const TOKENS = {
  plain: possibleRows(rowCheck(TokensRow) as RowCheck<TokensRow>, { tables: tablesOf('tokens'), name: DAY }),
  grouped: possibleRows(rowCheck(TokensByModelRow) as RowCheck<TokensByModelRow>, {
    tables: [tables.tokensDailyByModel],
    name: ['date', ['group_key', ...MODEL_KEYS]],
  }),
};
const TOOLS = {
  plain: possibleRows(rowCheck(ToolsRow), { tables: tablesOf('tools'), name: DAY }),
  // Its number is in the field that the row of a day has.
  grouped: possibleRows(rowCheck(ToolsByToolRow), { tables: [tables.toolsDaily], name: GROUP }),
};
const ACTIVITY = {
  plain: possibleRows(rowCheck(ActivityRow), { tables: tablesOf('activity'), name: DAY }),
  grouped: possibleRows(rowCheck(ActivityByClientRow), {
    tables: [tables.activityDailyByClient],
    name: GROUP,
  }),
};
const checkProductivity = possibleRows(rowCheck(ProductivityRow), {
  tables: tablesOf('productivity'),
  name: DAY,
});

/**
 * Creates a client. It opens connections when it needs them and keeps them until `close()`.
 * @throws {UsageError} for invalid options.
 *
 * @example
 * const client = createClient({ apiKey, baseUrl: 'https://api.example.com' });
 * const { data } = await client.tokens({ startDate: '2026-03-01', endDate: '2026-03-07' });
 * await client.close();
 */
export function createClient(options: ClientOptions): Client {
  const { transport: transportOptions, hosts } = clientOptions(options);
  const transport = createTransport(transportOptions);
  const signal = options.signal ?? new AbortController().signal;
  // Every call in flight listens; Node would report a leak.
  setMaxListeners(0, signal);
  const context: ReadContext = { transport, hosts, signal, allowPartial: options.allowPartial ?? false };
  const { knownIdentifiers, onWarning } = options;
  const creation = { transport, baseUrl: hosts.baseUrl, knownIdentifiers, onWarning };
  const close = () => transport.close();
  return {
    tokens: readerOf(context, 'tokens', TOKENS),
    tools: readerOf(context, 'tools', TOOLS),
    activity: readerOf(context, 'activity', ACTIVITY),
    productivity: (query, call) =>
      readRows(context, { ...query, stream: 'productivity' }, { check: checkProductivity, options: call }),
    users: (query, call) => readUsers(context, query, call),
    readinessReports: (query, call) => readReports(context, query ?? {}, call),
    createSession: (request, call) => {
      const create = async () => {
        const created = await createSession(request, { ...creation, ...callOptions(context, call) });
        return respondedBy(created.answer, created.session);
      };
      return callOf(create());
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Options of {@link createClient}.
 *
 * @example
 * createClient({ apiKey, baseUrl: 'https://api.example.com', concurrency: 4, maxRequestsPerMinute: 600 });
 */
export interface ClientOptions {
  /**
   * Bearer credential (specification, section 5). Analytics need the API key of a user with the Manager or Owner role;
   * `createSession` accepts a JWT as well.
   */
  readonly apiKey: string;
  /** Credential of the application host. @default apiKey */
  readonly appApiKey?: string | undefined;
  /** Main API host, for example `https://api.example.com`; https, or http on loopback. */
  readonly baseUrl: string;
  /** Application host, which serves the readiness reports. @default baseUrl */
  readonly appUrl?: string | undefined;
  /** Maximum number of requests in flight. The client sends fewer when the service answers 429 or 503. @default 8 */
  readonly concurrency?: number | undefined;
  /** Maximum number of requests that begin in any 60 seconds. @default no limit */
  readonly maxRequestsPerMinute?: number | undefined;
  /** Proxy for other machines, used by CONNECT; loopback hosts are reached directly. @default none */
  readonly proxy?: { readonly url: string; readonly noProxy?: string | undefined } | undefined;
  /**
   * Sends the requests in place of the client's own connections: an `Agent` of undici 7 or newer with certificates or a
   * resolver of your own, or its `MockAgent` in tests. It must not repeat requests or follow redirects. The caller closes
   * it. Not together with `proxy`. @default none
   */
  readonly dispatcher?: RequestDispatcher | undefined;
  /** Added to the `user-agent` header, for example `my-app/2.1`. @default nothing */
  readonly userAgentSuffix?: string | undefined;
  /** Time limit of one attempt in milliseconds, from its start to the last byte. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Maximum number of attempts per request. @default 6 */
  readonly attempts?: number | undefined;
  /** Aborts every call of this client. @default never */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when a request begins: each attempt, and each redirect that is followed. This callback and the next two only
   * observe: what they throw becomes an uncaught exception, and changes no call. @default does nothing
   */
  readonly onRequest?: ((request: RequestStart) => void) | undefined;
  /** Called when status and headers of a response arrive. @default does nothing */
  readonly onResponse?: ((response: ResponseStart) => void) | undefined;
  /** Called before each repetition of a request. @default does nothing */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Known values of settings that the specification leaves open; others cause a warning. @default no such warnings */
  readonly knownIdentifiers?: KnownIdentifiers | undefined;
  /** Called for each deprecated or unknown value, before the request is sent. @default does nothing */
  readonly onWarning?: ((warning: SessionWarning) => void) | undefined;
  /**
   * Returns answers of which parts were rejected, with these parts in `rejected`, instead of throwing
   * `PartialAnswerError`. @default false
   */
  readonly allowPartial?: boolean | undefined;
}

/**
 * Checks the options of a client.
 * @throws {UsageError} for a key or a suffix that no header can carry, a URL that is not allowed, a number out of range, or
 * options that exclude each other.
 */
function clientOptions(options: ClientOptions): { transport: TransportOptions; hosts: Hosts } {
  if (typeof options !== 'object' || options === null)
    throw new UsageError('a client has options', { hint: 'pass apiKey and baseUrl' });
  const { maxRequestsPerMinute: perMinute } = options;
  if (options.signal !== undefined) checkSignal(options.signal);
  const baseUrl = parseOrigin(options.baseUrl, 'baseUrl');
  checkDispatcher(options);
  return {
    hosts: {
      baseUrl,
      appUrl: options.appUrl === undefined ? baseUrl : parseOrigin(options.appUrl, 'appUrl'),
    },
    transport: {
      apiKey: parseKey(options.apiKey, 'apiKey'),
      appApiKey: options.appApiKey === undefined ? null : parseKey(options.appApiKey, 'appApiKey'),
      userAgent: userAgentWith(options.userAgentSuffix),
      concurrency: wholeNumber('concurrency', options.concurrency ?? 8),
      maxRequestsPerMinute:
        perMinute === undefined ? null : wholeNumber('maxRequestsPerMinute', perMinute, 1_000_000),
      proxy:
        options.proxy === undefined
          ? null
          : { url: parseProxy(options.proxy.url ?? ''), noProxy: options.proxy.noProxy ?? '' },
      dispatcher: options.dispatcher ?? null,
      requestTimeoutMs: wholeNumber('requestTimeoutMs', options.requestTimeoutMs ?? 30_000, TIMER_MS_MAX),
      signal: options.signal,
      attempts: wholeNumber('attempts', options.attempts ?? 6),
      clock: systemClock(),
      random: systemRandom,
      onRequest: observing(options.onRequest),
      onResponse: observing(options.onResponse),
      onRetry: observing(options.onRetry),
    },
  };
}

/** A callback that can change no call: what it throws becomes an uncaught exception. */
function observing<Event>(callback: ((event: Event) => void) | undefined) {
  if (callback === undefined) return undefined;
  return (event: Event) => {
    try {
      callback(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}

function checkDispatcher({ dispatcher, proxy }: ClientOptions): void {
  if (dispatcher === undefined) return;
  if (typeof dispatcher?.dispatch !== 'function')
    throw new UsageError('dispatcher is no dispatcher of undici', {
      hint: 'pass an Agent or a MockAgent of undici',
    });
  if (proxy !== undefined)
    throw new UsageError('dispatcher and proxy exclude each other', {
      hint: 'give the proxy to the dispatcher: undici has a ProxyAgent',
    });
}

function userAgentWith(suffix: string | undefined): string {
  const own = `daywalk/${packageVersion()}`;
  if (suffix === undefined) return own;
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(suffix)) return `${own} ${suffix}`;
  throw new UsageError('userAgentSuffix is empty, or has characters that no header can carry', {
    hint: 'write it like my-app/2.1, in ASCII',
  });
}

function parseKey(key: unknown, name: string): string {
  const trimmed = typeof key === 'string' ? key.trim() : '';
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new UsageError(`${name} is empty, or has characters that no header can carry`, {
      hint: 'pass the key as the application shows it, without quotes and line breaks',
    });
  }
  return trimmed;
}

function wholeNumber(name: string, value: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value;
  throw new UsageError(`${name} is ${value}, not a whole number from 1 to ${max}`, {
    hint: `leave ${name} out for its default`,
  });
}
