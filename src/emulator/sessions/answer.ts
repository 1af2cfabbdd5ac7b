import { isUtf8 } from 'node:buffer';
import type { ApiCall } from '../http/api-call.ts';
import { type Role, requireKey } from '../http/auth.ts';
import { type PreparedResponse, prepareJson } from '../http/prepared-response.ts';
import { Refusal } from '../http/refusal.ts';
import { BODY_BYTES_MAX, type Upload } from '../http/upload.ts';
import { isRecord } from '../input/parse.ts';
import { distort } from '../quirks/distort.ts';
import type { SessionRequest } from '../world/sessions.ts';
import type { World } from '../world/world.ts';
import { prepareSessionRefusal } from './refusal.ts';
import { findViolations } from './validate.ts';

/** Maximum number of problems that one response lists. */
const PROBLEMS_MAX = 100;

/**
 * Responds to a request to `/api/v0/sessions` (specification, section 4.1). Like every endpoint it checks method, key,
 * permission and rate before the body. `admit` refuses requests above the rate.
 */
export function answerSessions(world: World, call: ApiCall, admit: () => void): PreparedResponse {
  try {
    const { method, caller, upload } = call;
    if (method !== 'POST') throw new Refusal(405, `${method} is not allowed here`, { allow: 'POST' });
    const isJwt = caller.credential === world.quirks().sessionsJwt;
    const role = isJwt ? 'owner' : requireKey(caller);
    if (world.quirks().sessionsDisabled)
      throw new Refusal(403, 'Sessions are not enabled for the organization');
    admit();
    const request = readRequest(upload ?? { contentType: '', body: null });
    return prepareJson(201, JSON.stringify(createSession(world, role, request)));
  } catch (error) {
    if (error instanceof Refusal) return prepareSessionRefusal(error);
    throw error;
  }
}

function readRequest({ contentType, body }: Upload): SessionRequest {
  if (body === null) {
    throw new Refusal(413, `The body exceeds ${BODY_BYTES_MAX} bytes`, { connection: 'close' });
  }
  if (!/^application\/json\s*(;|$)/i.test(contentType))
    throw new Refusal(415, 'The body must be application/json');
  const json = parse(body);
  if (json === undefined) throw new Refusal(400, 'The body is not JSON');
  const problems = findViolations(json);
  if (problems.length === 0 && isSessionRequest(json)) return json;
  const metadata = { problems: problems.slice(0, PROBLEMS_MAX), total: problems.length };
  throw new Refusal(400, 'The request is not valid', {}, metadata);
}

function createSession(world: World, role: Role, request: SessionRequest): object {
  const { computerId } = request;
  const quirks = world.quirks();
  if (!quirks.computers.includes(computerId)) {
    throw new Refusal(400, 'There is no such computer, or it is not connected', {}, { computerId });
  }
  const session = world.sessions.create(request, role);
  if (session === null) throw new Refusal(500, 'The emulator cannot keep more sessions');
  // A client needs the whole session, so the quirk `nullMetrics` does not apply.
  return distort(session, `session ${session.sessionId}`, { ...quirks, nullMetrics: 0 });
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // Stands for text that is not JSON; JSON.parse never returns undefined.
    return undefined;
  }
}

/** True for every value without violations. */
function isSessionRequest(json: unknown): json is SessionRequest {
  return isRecord(json) && typeof json['computerId'] === 'string';
}
