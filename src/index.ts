/**
 * The typed client of the agent platform's API.
 *
 * ```ts
 * import { createClient } from 'daywalk';
 * const client = createClient({ apiKey, baseUrl: 'https://api.example.com' });
 * const { data } = await client.activity({ startDate: '2026-01-14', endDate: '2026-01-20' });
 * for await (const user of client.users({ startDate: '2026-01-14', endDate: '2026-01-14' })) console.log(user.user_id);
 * await client.close();
 * ```
 * @module
 */

export { PartialAnswerError } from './api/answer-rules.ts';
export {
  type Call,
  CLIENT_REASONS,
  type ClientReason,
  type Paged,
  type RequestOptions,
  type ResponseInfo,
  type WithResponse,
} from './api/calls.ts';
export { type Client, type ClientOptions, createClient } from './api/client.ts';
export type {
  DayRange,
  GroupedRead,
  ReportsPage,
  ReportsQuery,
  Rows,
  UsersQuery,
} from './api/client-reads.ts';
export type { AnsweredSettings, Session, SessionStatus } from './api/create-session.ts';
export type { Meta } from './api/pages.ts';
export type {
  KnownIdentifiers,
  SessionRequest,
  SessionSettings,
  SessionWarning,
  Tag,
  TokenUsage,
} from './api/session-request.ts';
export type { Rejected } from './checks/row-check.ts';
export type {
  ActivityByClientRow,
  ActivityRow,
  Criterion,
  ModelElement,
  ProductivityRow,
  ReadinessReport,
  TokensByModelRow,
  TokensRow,
  TokensUserElement,
  ToolsByToolRow,
  ToolsRow,
  UserRow,
} from './contract/shapes.ts';
export {
  DaywalkError,
  type Reason,
  RunError,
  UnitError,
  UsageError,
} from './core/errors.ts';
export type { HookEventName, KnownHookEvent, OtherHookEvent } from './hooks/event.ts';
export { HOOK_EVENT_NAMES, isKnownHookEvent } from './hooks/event.ts';
export type { RequestDispatcher } from './http/connections.ts';
export {
  ApiError,
  BadRequestError,
  CredentialError,
  LongWaitError,
  OverloadError,
  RequestError,
  ServerError,
  UnknownOutcomeError,
} from './http/errors.ts';
export type { RequestStart, ResponseStart, Retry } from './http/transport.ts';
