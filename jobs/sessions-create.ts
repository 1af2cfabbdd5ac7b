import { CredentialError } from '../src/api/errors.ts';
import { type CreatedSession, createSession } from '../src/api/sessions/create.ts';
import { parseSessionRequest } from '../src/api/sessions/request.ts';
import type { Session } from '../src/api/sessions/session.ts';
import type { KnownIdentifiers } from '../src/api/sessions/warnings.ts';
import type { Retry } from '../src/api/transport/transport.ts';
import { type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { messageOf, RunError, StorageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { isStorable } from '../src/core/json.ts';
import type { RunEvent } from '../src/pipeline/events.ts';
import { sessionRow } from '../src/pipeline/normalize/session.ts';
import type { Source } from '../src/pipeline/pull.ts';
import { identify } from '../src/pipeline/run/start/newest-day.ts';
import { privacyOf } from '../src/privacy/email.ts';
import { openTransport } from '../src/settings/open-transport.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { expectEmailSalt } from '../src/warehouse/email-salt.ts';
import { onlyOrganization } from '../src/warehouse/only-organization.ts';
import type { Warehouse } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** A session to create. */
export interface SessionCreation {
  /** The request, not validated yet. */
  readonly request: unknown;
  /**
   * The organization to record the session under.
   * @default the only one of the warehouse, else the one of the API key
   */
  readonly orgId?: string | undefined;
  readonly knownIdentifiers?: KnownIdentifiers | undefined;
}

/** A created session, and where it is recorded. */
export interface NewSession {
  readonly orgId: string;
  readonly session: Session;
  /** The location of the warehouse, without a password. */
  readonly warehouse: string;
}

/**
 * Creates a session and records it. Opens the warehouse first, so that an unusable one costs no session. Do not repeat
 * it without care: each successful call creates another session.
 * @param onCreated called as soon as the session exists, before it is recorded.
 * @throws {UsageError} for a bad request; nothing was sent. @throws {StorageError} when the session was created and
 * could not be recorded; the message has its id. Otherwise as `createSession`.
 */
export function createRecordedSession(
  settings: Settings,
  { request: given, orgId: named, knownIdentifiers }: SessionCreation,
  { clock, observe, signal }: JobContext<RunEvent>,
  onCreated: (session: NewSession) => void,
): Promise<void> {
  const request = parseSessionRequest(given);
  const api = requireApi(settings);
  return withWarehouse(settings.warehouse, { clock, create: true }, async (warehouse) => {
    await expectEmailSalt(warehouse, settings.emails);
    const onRetry = (retry: Retry) => observe({ type: 'retry', ...retry });
    const transport = openTransport(settings, api, { clock, onRetry });
    try {
      const orgId =
        named ??
        (await onlyOrganization(warehouse)) ??
        (await organizationOfKey({ transport, hosts: api }, yesterdayOf(clock.now()), signal));
      const created = await createSession(request, {
        transport,
        baseUrl: api.baseUrl,
        signal,
        knownIdentifiers,
        onWarning: ({ message, path }) =>
          observe({ type: 'warning', message: `${path}: ${message}`, hint: undefined }),
      });
      onCreated({ orgId, session: created.session, warehouse: warehouse.location });
      await record(created, { warehouse, orgId, settings });
    } finally {
      await transport.close();
    }
  });
}

async function organizationOfKey(source: Source, lastDay: UtcDay, signal: AbortSignal): Promise<string> {
  try {
    return (await identify(source, { lastDay, streams: ['activity'] }, signal)).orgId;
  } catch (error) {
    if (!(error instanceof RunError) || !(error.cause instanceof CredentialError)) throw error;
    throw new RunError(error.message, {
      cause: error.cause,
      exitCode: error.exitCode,
      hint: 'name the organization with --org-id; no session was created',
    });
  }
}

async function record(
  created: CreatedSession,
  { warehouse, orgId, settings }: { warehouse: Warehouse; orgId: string; settings: Settings },
): Promise<void> {
  const { sessionId } = created.session;
  const failure = (why: string, cause?: unknown) =>
    new StorageError(`session ${sessionId} was created, but not recorded in ${warehouse.location}: ${why}`, {
      cause,
      hint: 'keep its ID: the session exists, and another attempt would create a second one',
    });
  const row = sessionRow(created, { orgId, privacy: privacyOf(settings.emails) });
  if (!isStorable(row)) throw failure('the response contains text that cannot be stored');
  try {
    await warehouse.recordSession(row);
  } catch (error) {
    throw failure(messageOf(error), error);
  }
}
