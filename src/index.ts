/**
 * The typed client of the agent platform's API.
 *
 * ```ts
 * import { createClient } from 'daywalk';
 * const client = createClient({ apiKey, baseUrl: 'https://api.example.com' });
 * const { data } = await client.activity({ startDate: '2026-01-14', endDate: '2026-01-20' });
 * for await (const page of client.users({ startDate: '2026-01-14', endDate: '2026-01-14' })) console.log(page.data);
 * await client.close();
 * ```
 * @module
 */
export {
  type Client,
  createClient,
  type DayRange,
  type ReportsPage,
  type Rows,
} from './api/client/client.ts';
export type { ClientOptions } from './api/client/options.ts';
export {
  ApiError,
  BadRequestError,
  CredentialError,
  OverloadError,
  RequestError,
  ServerError,
  UnknownOutcomeError,
} from './api/errors.ts';
export type { SessionRequest } from './api/sessions/request.ts';
export type { AnsweredSettings, Session } from './api/sessions/session.ts';
export type { SessionSettings, Tag, TokenUsage } from './api/sessions/settings.ts';
export type { KnownIdentifiers, SessionWarning } from './api/sessions/warnings.ts';
export type { ActivityByClientRow, ActivityRow } from './api/shapes/activity.ts';
export type { Meta } from './api/shapes/envelope.ts';
export type { ProductivityRow } from './api/shapes/productivity.ts';
export type { Criterion, ReadinessReport } from './api/shapes/readiness.ts';
export type { Rejected } from './api/shapes/salvage.ts';
export type { ModelElement, TokensByModelRow, TokensRow, TokensUserElement } from './api/shapes/tokens.ts';
export type { ToolsByToolRow, ToolsRow } from './api/shapes/tools.ts';
export type { UserRow } from './api/shapes/users.ts';
export type { Retry } from './api/transport/transport.ts';
export { DaywalkError, RunError, UnitError, UsageError } from './core/errors.ts';
export type { HookEventName, KnownHookEvent, OtherHookEvent } from './hooks/event.ts';
export { HOOK_EVENT_NAMES, isKnownHookEvent } from './hooks/event.ts';
