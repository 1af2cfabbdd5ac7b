import type { RowOf } from '../schema/row.ts';
import type { tables } from '../schema/tables.ts';
import {
  type CreatedSession,
  createSession,
  type KnownIdentifiers,
  type KnownSession,
  knownSession,
  parseSessionRequest,
  type Session,
} from '../src/api/index.ts';
import { exactText } from '../src/checks/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { messageOf, RunError, StorageError, UsageError } from '../src/core/errors.ts';
import { canonicalJson, isExact } from '../src/core/json.ts';
import { canonicalText } from '../src/core/json-text.ts';
import { CredentialError, type Retry, UnknownOutcomeError } from '../src/http/index.ts';
import { expectAdmitted } from '../src/kept-out/index.ts';
import { expectName, namesOf, onlyOrganization } from '../src/organizations/index.ts';
import { Findings, identify, type RunEvent, type Source } from '../src/pipeline/index.ts';
import { joinErasures, withOwnWarehouse } from '../src/places/index.ts';
import { expectEmailSalt, noteLooser, openGate } from '../src/policy/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { Gate } from '../src/privacy/index.ts';
import { recordSession } from '../src/records/index.ts';
import type { NamedOrganization, Settings } from '../src/settings/index.ts';
import { chooseOrganizations, openTransport, requireApi, settingsFor } from './access.ts';

/** A session to create. */
interface SessionCreation {
  /** The request, not validated yet. */
  readonly request: unknown;
  /**
   * The organization to record the session under.
   * @default the only one of the warehouse, else the one of the API key
   */
  readonly orgId?: string | undefined;
  /** The name of the organization in the organizations file. @default the only one in the file */
  readonly organization?: string | undefined;
  readonly knownIdentifiers?: KnownIdentifiers | undefined;
}

/** A created session, and where it is recorded. */
export interface NewSession {
  readonly orgId: string;
  readonly session: Session | KnownSession['session'];
  /** The location of the warehouse, without a password. */
  readonly warehouse: string;
}

/**
 * Creates a session and records it. Opens the warehouse first, so that an unusable one costs no session. Do not repeat
 * it without care: each successful call creates another session.
 * @param onCreated called as soon as the session exists, before it is recorded.
 * If the answer names the session but lacks something else, the known part is shown and recorded, and the error is
 * thrown after that.
 * @throws {UsageError} for a bad request; nothing was sent. @throws {StorageError} when the session was created and
 * could not be recorded; the message has its id. Otherwise as `createSession`.
 */
export function createRecordedSession(
  allSettings: Settings,
  { request: given, orgId: asked, organization, knownIdentifiers }: SessionCreation,
  { clock, observe, signal, upgraded }: JobContext<RunEvent>,
  onCreated: (session: NewSession) => void,
): Promise<void> {
  const request = parseSessionRequest(given);
  const named = chooseNamed(allSettings, organization);
  const settings = named === null ? allSettings : settingsFor(allSettings, named);
  const api = requireApi(settings);
  return withOwnWarehouse(settings, { clock, upgraded }, async (warehouse) => {
    await expectEmailSalt(warehouse, settings.emails);
    await joinErasures(warehouse, settings);
    const onRetry = (retry: Retry) => observe({ type: 'retry', ...retry });
    const gate = await openGate(warehouse, settings.emails, { hasKeys: false });
    // Before the session is created, because it could not be taken back.
    await noteLooser(warehouse, gate);
    const transport = openTransport(settings, api, { clock, onRetry, gate });
    try {
      const identify = () =>
        organizationOfKey({ transport, hosts: api, gate }, yesterdayOf(clock.now()), signal);
      const orgId =
        named === null
          ? (asked ?? (await onlyOrganization(warehouse)) ?? (await identify()))
          : await identify();
      // A session in another organization could not be taken back.
      if (named !== null)
        await expectName(warehouse, { name: named.name, names: namesOf(allSettings) ?? [] }, orgId);
      expectAdmitted(gate, orgId);
      const creation = createSession(request, {
        transport,
        baseUrl: api.baseUrl,
        signal,
        knownIdentifiers,
        onWarning: ({ message, path }) =>
          observe({ type: 'warning', message: `${path}: ${message}`, hint: undefined }),
      });
      const keep = async (created: CreatedSession | KnownSession) => {
        onCreated({ orgId, session: created.session, warehouse: warehouse.location });
        const computer = gate.text(created.session.computerId ?? request.computerId);
        const message = `the session is on the computer ${computer}, which is not the one of the request`;
        if (computer !== gate.text(request.computerId))
          observe({ type: 'warning', message, hint: undefined });
        await record(created, { warehouse, orgId, gate });
        await noteLooser(warehouse, gate);
      };
      try {
        await keep(await creation);
      } catch (error) {
        const known = knownPart(error, clock.now());
        if (known !== undefined) await keep(known);
        throw error;
      }
    } finally {
      await transport.close();
    }
  });
}

/** What is known of a session that was created, though the answer does not describe it as promised. */
function knownPart(error: unknown, now: Date): KnownSession | undefined {
  const isCreated = error instanceof UnknownOutcomeError && error.outcome === 'created';
  return isCreated ? knownSession(error.body, now) : undefined;
}

/** @throws {UsageError} if the organizations file has several organizations and none was asked for. */
function chooseNamed(settings: Settings, asked: string | undefined): NamedOrganization | null {
  const [only, ...others] = chooseOrganizations(settings, asked);
  if (only === undefined || others.length === 0) return only ?? null;
  throw new UsageError(`the organizations file has ${others.length + 1} organizations`, {
    hint: 'choose one of them with --organization',
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
  created: CreatedSession | KnownSession,
  { warehouse, orgId, gate }: { warehouse: Warehouse; orgId: string; gate: Gate },
): Promise<void> {
  // A session is one person's.
  if (!gate.keepsPeople) return;
  const { sessionId } = created.session;
  const failure = (why: string, cause?: unknown) =>
    new StorageError(`session ${sessionId} was created, but not recorded in ${warehouse.location}: ${why}`, {
      cause,
      hint: 'keep its ID: the session exists, and another attempt would create a second one',
    });
  let isStored: boolean;
  try {
    isStored = await recordSession(warehouse, (keptOut) => {
      // The list may have grown since the response has passed.
      gate.keepOut(keptOut, orgId);
      return sessionRow(created, { orgId, gate });
    });
  } catch (error) {
    throw failure(messageOf(error), error);
  }
  if (!isStored) throw failure('the response contains text that cannot be stored');
}

const FIELDS = new Set([
  'sessionId',
  'title',
  'status',
  'messageCount',
  'createdAt',
  'updatedAt',
  'completedAt',
  'computerId',
  'sessionSettings',
]);

/** The row of a created session in the table `sessions`: every field, the settings as JSON, unknown fields in `extra`. */
function sessionRow(
  { session, text, malformed = {} }: CreatedSession | KnownSession,
  { orgId, gate }: { readonly orgId: string; readonly gate: Gate },
): RowOf<typeof tables.sessions> {
  // What the answer has, malformed fields included.
  const answered = { ...session, ...malformed };
  const exact = exactText({ text, body: answered });
  const settings = session.sessionSettings ?? null;
  const settingsJson =
    settings === null || isExact(settings)
      ? canonicalJson(settings)
      : canonicalText(exact.fieldText(answered, 'sessionSettings') ?? 'null');
  const { title, completedAt } = session;
  const known = new Set([...FIELDS].filter((name) => !(name in malformed)));
  const extra = new Findings().extra(answered, known, { place: 'session', exact });
  return {
    org_id: orgId,
    session_id: session.sessionId,
    title: title === null || title === undefined ? null : gate.text(title),
    status: session.status,
    message_count: session.messageCount ?? null,
    created_at: instantOf(session.createdAt),
    updated_at: instantOf(session.updatedAt),
    completed_at: completedAt === null || completedAt === undefined ? null : instantOf(completedAt),
    computer_id: session.computerId ?? null,
    session_settings: settings === null ? null : canonicalText(gate.json(settingsJson)),
    extra: extra === null ? null : canonicalText(gate.json(extra)),
  };
}

function instantOf(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
