import { isDeeperThan, isObject } from '../../core/json.ts';
import { UnknownOutcomeError } from '../errors.ts';
import type { Answer } from '../http/request.ts';
import { SESSIONS_PATH } from '../paths.ts';
import type { Meter, Transport } from '../transport/transport.ts';
import { type SessionRequest, sessionRequestJson } from './request.ts';
import { readSession, type Session } from './session.ts';
import { type KnownIdentifiers, type SessionWarning, sessionWarnings } from './warnings.ts';

const CREATED = 201;
/** Maximum number of levels of nesting: few enough to print and store the session without a stack overflow. */
const LEVELS_MAX = 500;
const NAME = `POST ${SESSIONS_PATH}`;

export interface CreateSessionOptions {
  readonly transport: Transport;
  /** Origin of the main API host. */
  readonly baseUrl: string;
  readonly signal: AbortSignal;
  readonly meter?: Meter;
  readonly knownIdentifiers?: KnownIdentifiers | undefined;
  /** Called for each warning before the request is sent. @default does nothing */
  readonly onWarning?: ((warning: SessionWarning) => void) | undefined;
}

/** A session that was created, with the text of the response, which has digits that parsed numbers lose. */
export interface CreatedSession {
  readonly session: Session;
  readonly text: string;
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
  { transport, baseUrl, signal, meter, knownIdentifiers, onWarning }: CreateSessionOptions,
): Promise<CreatedSession> {
  const json = sessionRequestJson(request);
  if (onWarning !== undefined)
    for (const warning of sessionWarnings(request, knownIdentifiers)) onWarning(warning);
  const target = { origin: baseUrl, path: SESSIONS_PATH, query: {} };
  const call = meter === undefined ? { signal } : { signal, meter };
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
  if ('session' in reading) return { session: reading.session, text };
  const violations = reading.violations.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const id = isObject(body) && typeof body['sessionId'] === 'string' ? ` ${body['sessionId']}` : '';
  const made = `${NAME} created a session${id}, but did not describe it as one (${violations})`;
  throw outcome(answer, made, 'created');
}

function outcome(
  { status, requestId }: Answer,
  message: string,
  outcome: 'unknown' | 'created',
): UnknownOutcomeError {
  return new UnknownOutcomeError(`${message}: check before trying again`, {
    target: NAME,
    outcome,
    status,
    requestId,
    hint: 'look into the application for the session; trying again may create another one',
  });
}
