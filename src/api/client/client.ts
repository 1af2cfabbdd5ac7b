import { setMaxListeners } from 'node:events';
import { createSession } from '../sessions/create.ts';
import type { SessionRequest } from '../sessions/request.ts';
import type { Session } from '../sessions/session.ts';
import { ActivityByClientRow, ActivityRow } from '../shapes/activity.ts';
import { ProductivityRow } from '../shapes/productivity.ts';
import { type RowCheck, rowCheck } from '../shapes/salvage.ts';
import { TokensByModelRow, TokensRow } from '../shapes/tokens.ts';
import { ToolsByToolRow, ToolsRow } from '../shapes/tools.ts';
import type { UserRow } from '../shapes/users.ts';
import { createTransport } from '../transport/transport.ts';
import { type ClientOptions, clientOptions } from './options.ts';
import {
  type DayRange,
  type ReadContext,
  type ReportsPage,
  type ReportsQuery,
  type Rows,
  readerOf,
  readReports,
  readRows,
  readUsers,
  type UsersQuery,
} from './reads.ts';

export type { DayRange, ReportsPage, Rows } from './reads.ts';

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
  users(query: UsersQuery): AsyncIterable<Rows<UserRow>>;
  /**
   * The pages of readiness reports (section 4.3). `startAfter` resumes after a report; no order is promised. `limit` is
   * the number of reports per page (default 100, or fewer if the service answers 400 to that).
   */
  readinessReports(query?: ReportsQuery): AsyncIterable<ReportsPage>;
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

const TOKENS = {
  plain: rowCheck(TokensRow) as RowCheck<TokensRow>,
  grouped: rowCheck(TokensByModelRow) as RowCheck<TokensByModelRow>,
};
const TOOLS = { plain: rowCheck(ToolsRow), grouped: rowCheck(ToolsByToolRow) };
const ACTIVITY = { plain: rowCheck(ActivityRow), grouped: rowCheck(ActivityByClientRow) };
const checkProductivity = rowCheck(ProductivityRow);

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
  const context: ReadContext = { transport, hosts, signal };
  const { knownIdentifiers, onWarning } = options;
  const creation = { transport, baseUrl: hosts.baseUrl, signal, knownIdentifiers, onWarning };
  return {
    tokens: readerOf(context, 'tokens', TOKENS),
    tools: readerOf(context, 'tools', TOOLS),
    activity: readerOf(context, 'activity', ACTIVITY),
    productivity: (query) => readRows(context, { ...query, stream: 'productivity' }, checkProductivity),
    users: (query) => readUsers(context, query),
    readinessReports: (query = {}) => readReports(context, query),
    createSession: async (request) => (await createSession(request, creation)).session,
    close: () => transport.close(),
  };
}
