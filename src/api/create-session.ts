import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  Flag,
  Identity,
  Instant,
  Label,
  listOf,
  mapOf,
  type Violation,
  violationsOf,
} from '../checks/index.ts';
import { SESSIONS_PATH } from '../contract/index.ts';
import { isDeeperThan, isObject } from '../core/json.ts';
import { type Answer, type CallOptions, type Transport, UnknownOutcomeError } from '../http/index.ts';
import { LEVELS_MAX } from './limits.ts';
import {
  type KnownIdentifiers,
  type SessionRequest,
  type SessionWarning,
  sessionRequestJson,
  sessionWarnings,
} from './session-request.ts';

/** States of a session (specification, section 3); the service may have new ones. */
export type SessionStatus = 'idle' | 'pending' | 'running' | (string & {});

// A response describes a session that exists already. New values, further fields and nulls in its settings are accepted,
// because they must not make a created session look like a failure.

// The digits of numbers beyond 2^53 are taken from the text of the response.
const Amount = Type.Optional(Type.Union([Type.Number(), Type.Null()]));

const AnsweredUsage = Type.Object({
  inputTokens: Amount,
  outputTokens: Amount,
  cacheCreationTokens: Amount,
  cacheReadTokens: Amount,
  thinkingTokens: Amount,
  serviceCredits: Amount,
});

const AnsweredUsageOrNull = Type.Optional(Type.Union([AnsweredUsage, Type.Null()]));

/** The settings of a session in a response (section 2.1). */
export const AnsweredSettings = Type.Object({
  model: Label,
  reasoningEffort: Label,
  interactionMode: Label,
  autonomyLevel: Label,
  autonomyMode: Label,
  specModeModel: Label,
  specModeReasoningEffort: Label,
  runInWorktree: Flag,
  providerLock: Label,
  providerLockTimestamp: Label,
  apiProviderLock: Label,
  assistantActiveTimeMs: Amount,
  tokenUsage: AnsweredUsageOrNull,
  inclusiveTokenUsage: AnsweredUsageOrNull,
  childInclusiveTokenUsageBySessionId: mapOf(AnsweredUsage),
  archivedAt: Label,
  tags: listOf(Type.Object({ name: Type.String(), metadata: mapOf(Type.String()) })),
  enabledToolIds: listOf(Type.String()),
  disabledToolIds: listOf(Type.String()),
  compactionModel: Label,
  compactionThresholdCheckEnabled: Flag,
});
export type AnsweredSettings = Static<typeof AnsweredSettings>;

/** A session in the response to its creation (section 2.3). Instants are Unix milliseconds. Unknown fields are kept. */
export const Session = Type.Object({
  sessionId: Identity,
  title: Label,
  status: Type.Unsafe<SessionStatus>(Type.String()),
  messageCount: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  createdAt: Instant,
  updatedAt: Instant,
  completedAt: Type.Optional(Type.Union([Instant, Type.Null()])),
  computerId: Label,
  sessionSettings: Type.Optional(Type.Union([AnsweredSettings, Type.Null()])),
});
export type Session = Static<typeof Session>;

const check = Compile(Session);
const instantCheck = Compile(Instant);

/** The session in a response, or what is wrong with it. */
function readSession(body: unknown): { session: Session } | { violations: Violation[] } {
  if (check.Check(body)) return { session: body };
  return { violations: violationsOf(check, body, 'answer') };
}

/** What a response tells about a session that it does not describe as promised. */
export interface KnownSession {
  readonly session: Omit<Session, 'messageCount'> & { readonly messageCount?: number | undefined };
  readonly text: string;
  /** Fields whose values are not what the specification promises; `session` does not have these values. */
  readonly malformed: Readonly<Record<string, unknown>>;
}

/**
 * The part of a session that a response tells; undefined if it does not name the session. A status that is missing is '',
 * and a time that is missing or impossible is when the
 * response came.
 */
export function knownSession(body: unknown, receivedAt: Date): KnownSession | undefined {
  const sessionId = sessionIdOf(body);
  if (sessionId === undefined || !isObject(body) || isDeeperThan(body, LEVELS_MAX)) return undefined;
  const { createdAt, updatedAt } = body;
  const instant = (value: unknown, missing: number) => {
    const whole = typeof value === 'number' ? Math.trunc(value) : value;
    return instantCheck.Check(whole) ? whole : missing;
  };
  const created = instant(createdAt, receivedAt.getTime());
  const promised = {
    title: null,
    status: '',
    messageCount: undefined,
    createdAt: created,
    updatedAt: instant(updatedAt, created),
    completedAt: null,
    computerId: null,
    sessionSettings: null,
  };
  const whole = { ...promised, messageCount: 0, sessionId };
  const given = Object.entries(body).filter(([name]) => name in promised);
  const isFine = ([name, value]: [string, unknown]) => check.Check({ ...whole, [name]: value });
  const malformed = Object.fromEntries(given.filter((field) => !isFine(field)));
  const session = { ...body, ...promised, ...Object.fromEntries(given.filter(isFine)), sessionId };
  return { session, text: JSON.stringify(body), malformed };
}

const CREATED = 201;
const NAME = `POST ${SESSIONS_PATH}`;

interface CreateSessionOptions extends CallOptions {
  readonly transport: Transport;
  /** Origin of the main API host. */
  readonly baseUrl: string;
  readonly knownIdentifiers?: KnownIdentifiers | undefined;
  /** Called for each warning before the request is sent. @default does nothing */
  readonly onWarning?: ((warning: SessionWarning) => void) | undefined;
}

/** A session that was created, with the text of the response, which has digits that parsed numbers lose. */
export interface CreatedSession {
  readonly session: Session;
  readonly text: string;
  readonly answer: Answer;
  readonly malformed?: undefined;
}

/**
 * Creates a session on a computer (specification, section 4.1). Not idempotent: each successful call creates one more
 * session. The transport repeats it only if the service provably did not carry out the request.
 * @throws {UsageError} for a request that is not allowed; nothing was sent.
 * @throws {ApiError} when it was refused (400, 401, 403, 429, other 4xx); nothing was created.
 * @throws {UnknownOutcomeError} when a session was or may have been created.
 */
export async function createSession(
  request: SessionRequest,
  { transport, baseUrl, knownIdentifiers, onWarning, ...call }: CreateSessionOptions,
): Promise<CreatedSession> {
  const json = sessionRequestJson(request);
  if (onWarning !== undefined)
    for (const warning of sessionWarnings(request, knownIdentifiers)) onWarning(warning);
  const target = { origin: baseUrl, path: SESSIONS_PATH, query: {} };
  const answer = await transport.create(target, { json, creates: 'a session' }, call);
  return sessionOf(answer);
}

const TOO_DEEP = { violations: [{ path: 'answer', message: `nests deeper than ${LEVELS_MAX} levels` }] };

function sessionOf(answer: Answer): CreatedSession {
  const { status, body, text } = answer;
  if (status !== CREATED) {
    throw outcome(
      answer,
      `${NAME} answered ${status}, not ${CREATED}; a session may have been created`,
      'unknown',
    );
  }
  const reading = isDeeperThan(body, LEVELS_MAX) ? TOO_DEEP : readSession(body);
  if ('session' in reading) return { session: reading.session, text, answer };
  const violations = reading.violations.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const id = sessionIdOf(body);
  const made = `${NAME} created a session${id === undefined ? '' : ` ${id}`}, but did not describe it as one (${violations})`;
  throw outcome(answer, made, 'created');
}

function sessionIdOf(body: unknown): string | undefined {
  const id = isObject(body) ? body['sessionId'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function outcome(
  { status, requestId, body }: Answer,
  message: string,
  outcome: 'unknown' | 'created',
): UnknownOutcomeError {
  return new UnknownOutcomeError(`${message}: check before trying again`, {
    target: NAME,
    outcome,
    status,
    requestId,
    body,
    sessionId: sessionIdOf(body),
    hint: 'look into the application for the session; trying again may create another one',
  });
}
