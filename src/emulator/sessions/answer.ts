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
  if (call.method !== 'POST') {
    const headers = { allow: 'POST' };
    return prepareSessionRefusal({ status: 405, detail: `${call.method} is not allowed here`, headers });
  }
  try {
    const isJwt = call.caller.credential === world.quirks().sessionsJwt;
    const role = isJwt ? 'owner' : requireKey(call.caller);
    if (world.quirks().sessionsDisabled)
      return prepareSessionRefusal({ status: 403, detail: 'Sessions are not enabled for the organization' });
    admit();
    return answerUpload(world, role, call.upload ?? { contentType: '', body: null });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, message: detail, headers } = error;
    return prepareSessionRefusal({ status, detail, headers });
  }
}

function answerUpload(world: World, role: Role, { contentType, body }: Upload): PreparedResponse {
  if (body === null) {
    const headers = { connection: 'close' };
    return prepareSessionRefusal({
      status: 413,
      detail: `The body exceeds ${BODY_BYTES_MAX} bytes`,
      headers,
    });
  }
  if (!/^application\/json\s*(;|$)/i.test(contentType))
    return prepareSessionRefusal({ status: 415, detail: 'The body must be application/json' });
  const json = parse(body);
  if (json === undefined) return prepareSessionRefusal({ status: 400, detail: 'The body is not JSON' });
  const problems = findViolations(json);
  if (problems.length > 0 || !isSessionRequest(json)) {
    const metadata = { problems: problems.slice(0, PROBLEMS_MAX), total: problems.length };
    return prepareSessionRefusal({ status: 400, detail: 'The request is not valid', metadata });
  }
  return create(world, role, json);
}

function create(world: World, role: Role, request: SessionRequest): PreparedResponse {
  const { computerId } = request;
  const quirks = world.quirks();
  if (!quirks.computers.includes(computerId)) {
    return prepareSessionRefusal({
      status: 400,
      detail: 'There is no such computer, or it is not connected',
      metadata: { computerId },
    });
  }
  const session = world.sessions.create(request, role);
  if (session === null)
    return prepareSessionRefusal({ status: 500, detail: 'The emulator holds no more sessions' });
  // A client needs the whole session, so the quirk `nullMetrics` does not apply.
  const shown = distort(session, `session ${session.sessionId}`, { ...quirks, nullMetrics: 0 });
  return prepareJson(201, JSON.stringify(shown));
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // JSON.parse never returns undefined, so undefined can mean that the text is not JSON.
    return undefined;
  }
}

/** True for every value without violations. */
function isSessionRequest(json: unknown): json is SessionRequest {
  return isRecord(json) && typeof json['computerId'] === 'string';
}
