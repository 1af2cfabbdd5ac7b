import { setMaxListeners } from 'node:events';
import { isDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import type { DailyStream } from '../../core/stream.ts';
import { USERS_LIMIT } from '../limits.ts';
import { GROUP_BY } from '../paths.ts';
import { type AnalyticsQuery, analyticsRequest, readinessRequest } from '../requests.ts';
import { createSession } from '../sessions/create.ts';
import type { SessionRequest } from '../sessions/request.ts';
import type { Session } from '../sessions/session.ts';
import { ActivityByClientRow, ActivityRow } from '../shapes/activity.ts';
import type { Meta } from '../shapes/envelope.ts';
import { ProductivityRow } from '../shapes/productivity.ts';
import { ReadinessReport } from '../shapes/readiness.ts';
import { type Rejected, type RowCheck, rowCheck } from '../shapes/salvage.ts';
import { TokensByModelRow, TokensRow } from '../shapes/tokens.ts';
import { ToolsByToolRow, ToolsRow } from '../shapes/tools.ts';
import { UserRow } from '../shapes/users.ts';
import { createTransport } from '../transport/transport.ts';
import { type AnalyticsPage, analyticsPage, readinessPage, walkReadiness, walkUsers } from '../walk/pages.ts';
import { ReportLimit } from '../walk/report-limit.ts';
import { type ClientOptions, clientOptions } from './options.ts';

/** A range of UTC days, both included. The service answers 400 if it does not allow so many days per request. */
export interface DayRange {
  /** First day, `YYYY-MM-DD`; there is no data before 2026-01-14. */
  readonly startDate: string;
  /** Last day, `YYYY-MM-DD`; yesterday (UTC) at the latest. */
  readonly endDate: string;
}

/** The rows of one response: valid ones, and those that were rejected. */
export interface Rows<Row> {
  readonly data: readonly Row[];
  readonly meta: Meta;
  /** Parts of the response that are not in `data`, with the reason. Usually none. */
  readonly rejected: readonly Rejected[];
}

/** A page of readiness reports. */
export interface ReportsPage {
  readonly reports: readonly ReadinessReport[];
  readonly rejected: readonly Rejected[];
}

/**
 * The typed client of the service. Metrics and labels may be null or missing; identities never are. Unknown fields are
 * kept. Every call is paced and repeated according to {@link ClientOptions}. All calls except `createSession` are reads
 * and may be repeated. They reject with `CredentialError` (401, 403), `BadRequestError` (400), `OverloadError` (429, 503),
 * `ServerError` (other 5xx), `RequestError` (no usable response), or `UsageError` before anything is sent.
 */
export interface Client {
  /** Credits per day, nested by model and user; with `groupBy`, one row per day and model (section 4.2). */
  tokens(query: DayRange & { groupBy: 'model' }): Promise<Rows<TokensByModelRow>>;
  tokens(query: DayRange): Promise<Rows<TokensRow>>;
  /** Tool usage per day; with `groupBy`, one row per day and tool (section 4.2, rule 3). */
  tools(query: DayRange & { groupBy: 'tool_name' }): Promise<Rows<ToolsByToolRow>>;
  tools(query: DayRange): Promise<Rows<ToolsRow>>;
  /** Active users per day; with `groupBy`, one row per day and client type (section 4.2, rule 4). */
  activity(query: DayRange & { groupBy: 'client' }): Promise<Rows<ActivityByClientRow>>;
  activity(query: DayRange): Promise<Rows<ActivityRow>>;
  /** Files and git work per day (section 4.2). */
  productivity(query: DayRange): Promise<Rows<ProductivityRow>>;
  /**
   * The pages of /users, one row per user and day. `limit` is the number of users per page, 1 to 100 (default 100).
   * `cursor` resumes after an earlier page: its `meta.next_cursor`.
   */
  users(query: DayRange & { limit?: number; cursor?: string }): AsyncIterable<Rows<UserRow>>;
  /**
   * The pages of readiness reports (section 4.3). `startAfter` resumes after a report; no order is promised. `limit` is
   * the number of reports per page (default 100, or fewer if the service answers 400 to that).
   */
  readinessReports(query?: {
    repoId?: string;
    limit?: number;
    startAfter?: string;
  }): AsyncIterable<ReportsPage>;
  /**
   * Creates a session on a computer (section 4.1). `apiKey` may be an API key or a JWT. **Not idempotent**: every
   * successful call creates one more session. The client repeats it only if the service provably did not carry out the
   * request: it never arrived, or the service answered 429.
   * @throws {UsageError} naming every invalid property with its path; nothing was sent.
   * @throws {UnknownOutcomeError} when a session was or may have been created; check before you try again.
   */
  createSession(request: SessionRequest): Promise<Session>;
  /** Closes the connections. */
  close(): Promise<void>;
}

const CHECKS = {
  tokens: rowCheck(TokensRow) as RowCheck<TokensRow>,
  tokensByModel: rowCheck(TokensByModelRow) as RowCheck<TokensByModelRow>,
  tools: rowCheck(ToolsRow),
  toolsByTool: rowCheck(ToolsByToolRow),
  activity: rowCheck(ActivityRow),
  activityByClient: rowCheck(ActivityByClientRow),
  productivity: rowCheck(ProductivityRow),
  users: rowCheck(UserRow),
  reports: rowCheck(ReadinessReport),
};

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

  async function page(stream: DailyStream, query: AnalyticsQuery): Promise<AnalyticsPage> {
    const answer = await transport.get(analyticsRequest(hosts, stream, query), { signal });
    return analyticsPage(answer, `GET ${stream}`);
  }

  async function rows<Row>(
    stream: DailyStream,
    query: AnalyticsQuery,
    check: RowCheck<Row>,
  ): Promise<Rows<Row>> {
    checkRange(query);
    return checked(await page(stream, query), check);
  }

  /** The rows of an endpoint, plain or grouped. A function declaration, because an arrow function has no overloads. */
  function grouped<Plain, Grouped>(
    stream: keyof typeof GROUP_BY,
    plain: RowCheck<Plain>,
    group: RowCheck<Grouped>,
  ) {
    function call(query: DayRange & { groupBy: string }): Promise<Rows<Grouped>>;
    function call(query: DayRange): Promise<Rows<Plain>>;
    function call(query: DayRange & { groupBy?: string }): Promise<Rows<Plain> | Rows<Grouped>> {
      if (query.groupBy === undefined) return rows(stream, query, plain);
      if (query.groupBy === GROUP_BY[stream]) return rows(stream, query, group);
      return Promise.reject(
        new UsageError(`${stream} cannot be grouped by "${query.groupBy}"`, {
          hint: `group it by ${GROUP_BY[stream]}`,
        }),
      );
    }
    return call;
  }

  async function* users(
    query: DayRange & { limit?: number; cursor?: string },
  ): AsyncGenerator<Rows<UserRow>> {
    checkRange(query);
    const limit = checkLimit(query.limit ?? USERS_LIMIT.max, USERS_LIMIT.max);
    const get = (cursor: string | undefined) =>
      page('users', { ...query, limit, cursor: cursor ?? query.cursor });
    for await (const answer of walkUsers(get, 'GET users')) yield checked(answer, CHECKS.users);
  }

  async function* readinessReports(
    query: { repoId?: string; limit?: number; startAfter?: string } = {},
  ): AsyncGenerator<ReportsPage> {
    const { repoId } = query;
    const asked = query.limit === undefined ? undefined : checkLimit(query.limit, Number.MAX_SAFE_INTEGER);
    const found = new ReportLimit();
    const pull = async (startAfter: string | undefined, limit: number | undefined) => {
      const target = readinessRequest(hosts, { repoId, limit, startAfter });
      return readinessPage(await transport.get(target, { signal }), 'GET readiness reports');
    };
    const get = (startAfter: string | undefined) => {
      if (asked !== undefined) return pull(startAfter, asked);
      if (startAfter === query.startAfter) return found.firstPage((limit) => pull(startAfter, limit));
      return pull(startAfter, found.current ?? undefined);
    };
    for await (const answer of walkReadiness(get, 'GET readiness reports', query.startAfter)) {
      const { rows: reports, rejected } = CHECKS.reports(answer.reports, {
        path: 'reports',
        text: answer.text,
      });
      yield { reports, rejected };
    }
  }

  return {
    tokens: grouped('tokens', CHECKS.tokens, CHECKS.tokensByModel),
    tools: grouped('tools', CHECKS.tools, CHECKS.toolsByTool),
    activity: grouped('activity', CHECKS.activity, CHECKS.activityByClient),
    productivity: (query) => rows('productivity', query, CHECKS.productivity),
    users,
    readinessReports,
    createSession: async (request) => {
      const { baseUrl } = hosts;
      const { knownIdentifiers, onWarning } = options;
      return (await createSession(request, { transport, baseUrl, signal, knownIdentifiers, onWarning }))
        .session;
    },
    close: () => transport.close(),
  };
}

function checked<Row>(page: AnalyticsPage, check: RowCheck<Row>): Rows<Row> {
  const { rows, rejected } = check(page.data, { path: 'data', text: page.text });
  return { data: rows, meta: page.meta, rejected };
}

function checkRange({ startDate, endDate }: DayRange): void {
  for (const [name, value] of Object.entries({ startDate, endDate })) {
    if (!isDay(value)) {
      throw new UsageError(`${name} "${value}" is not a calendar day`, { hint: 'write days as YYYY-MM-DD' });
    }
  }
  if (startDate > endDate) {
    throw new UsageError(`startDate ${startDate} is after endDate ${endDate}`, { hint: 'swap them' });
  }
}

function checkLimit(limit: number, max: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new UsageError(`limit ${limit} is out of range`, { hint: `choose a whole number from 1 to ${max}` });
}
