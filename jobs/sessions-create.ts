import { CredentialError } from '../src/api/errors.ts';
import { type CreatedSession, createSession } from '../src/api/sessions/create.ts';
import { parseSessionRequest } from '../src/api/sessions/request.ts';
import type { Session } from '../src/api/sessions/session.ts';
import type { KnownIdentifiers } from '../src/api/sessions/warnings.ts';
import type { Transport } from '../src/api/transport/transport.ts';
import { yesterdayOf } from '../src/core/day.ts';
import { messageOf, RunError, StorageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { isStorable } from '../src/core/json.ts';
import { sessionRow } from '../src/pipeline/normalize/session.ts';
import { identify } from '../src/pipeline/run/start/newest-day.ts';
import { privacyOf } from '../src/privacy/email.ts';
import { openTransport } from '../src/settings/open-transport.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { expectEmailSalt } from '../src/warehouse/email-salt.ts';
import type { Warehouse } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** A session to be created. */
export interface SessionCreation {
  /** The request as it was given; nothing of it is checked yet. */
  readonly request: unknown;
  /** The organization under which it is recorded; looked up unless given. */
  readonly orgId?: string | undefined;
  readonly knownIdentifiers?: KnownIdentifiers | undefined;
}

/** A session that exists, and where it is to be recorded. */
export interface NewSession {
  readonly orgId: string;
  readonly session: Session;
  /** Where the warehouse is, as it may be shown. */
  readonly warehouse: string;
}

/**
 * Creates a session and records it. The warehouse is opened first, so that one that cannot be opened costs no session.
 * Must not simply be repeated: each call that gets through makes one more session.
 * @param onCreated told as soon as the session exists, before it is recorded.
 * @throws {UsageError} for a bad request; nothing was sent. @throws {StorageError} that names the session when it was
 * created and could not be recorded. Otherwise as `createSession`.
 */
export function createRecordedSession(
  settings: Settings,
  { request: given, orgId: named, knownIdentifiers }: SessionCreation,
  context: JobContext,
  onCreated: (session: NewSession) => void,
): Promise<void> {
  const request = parseSessionRequest(given);
  const api = requireApi(settings);
  const { clock, observe, signal } = context;
  return withWarehouse(settings.warehouse, { clock, create: true }, async (warehouse) => {
    await expectEmailSalt(warehouse, settings.emails);
    const transport = openTransport(settings, api, context);
    try {
      const orgId = named ?? (await organizationOf({ warehouse, transport, hosts: api }, context));
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

/** The ledger's only organization. Where it has none or several, the analytics say whose the key is. */
async function organizationOf(
  {
    warehouse,
    transport,
    hosts,
  }: { warehouse: Warehouse; transport: Transport; hosts: { baseUrl: string; appUrl: string } },
  { clock, signal }: JobContext,
): Promise<string> {
  const [only, ...others] = await warehouse.organizations();
  if (only !== undefined && others.length === 0) return only;
  try {
    const lastDay = yesterdayOf(clock.now());
    return (await identify({ transport, hosts }, { lastDay, streams: ['activity'] }, signal)).orgId;
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
      hint: 'keep its id: it exists, and creating it again would make a second one',
    });
  const row = sessionRow(created, { orgId, privacy: privacyOf(settings.emails) });
  if (!isStorable(row)) throw failure('the service answered text that cannot be stored');
  try {
    await warehouse.recordSession(row);
  } catch (error) {
    throw failure(messageOf(error), error);
  }
}
