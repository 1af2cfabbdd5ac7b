import { isUtf8 } from 'node:buffer';
import { isDeeperThan, parseJson } from '../../core/json.ts';
import { type JsonSchema, nameOfRef } from '../openapi/building-blocks.ts';
import { SESSION_SCHEMAS } from '../openapi/session-schemas.ts';
import { DEPTH_MAX, isRecord } from '../parse.ts';
import type { Quirks } from '../quirks.ts';
import { type ApiCall, BODY_BYTES_MAX, ROLES, type Role, requireKey, type Upload } from '../request.ts';
import { type PreparedResponse, prepareJson, prepareSessionRefusal, Refusal } from '../response.ts';
import type { SessionRequest } from '../sessions.ts';
import type { World } from '../world.ts';
import { distort } from './envelope.ts';

/** The methods of the endpoint, as the header Allow lists them. */
export const ALLOW_POST = 'POST, OPTIONS';

/** The roles that may create sessions, by the quirk `sessionsRoles`. */
const ROLES_ABOVE: Readonly<Record<Quirks['sessionsRoles'], readonly Role[]>> = {
  any: ROLES,
  manager: ['owner', 'manager'],
  owner: ['owner'],
};

/** Maximum number of problems that one response lists. */
const PROBLEMS_MAX = 100;

/**
 * Responds to a request to `/api/v0/sessions` (specification, section 4.1). Like every endpoint it checks method, key,
 * permission and rate before the body. `admit` refuses requests above the rate.
 */
export function answerSessions(world: World, call: ApiCall, admit: () => void): PreparedResponse {
  try {
    const { method, caller, upload } = call;
    if (method !== 'POST') throw new Refusal(405, `${method} is not allowed here`, { allow: ALLOW_POST });
    const { sessionsJwt, sessionsDisabled, sessionsRoles } = world.quirks();
    const role = caller.credential === sessionsJwt ? 'owner' : requireKey(caller);
    if (sessionsDisabled) throw new Refusal(403, 'Sessions are not enabled for the organization');
    if (!ROLES_ABOVE[sessionsRoles].includes(role))
      throw new Refusal(403, `The role ${sessionsRoles} is required; this key belongs to a ${role}`);
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
  const json = isUtf8(body) ? parseJson(body.toString('utf8')) : undefined;
  if (isDeeperThan(json, DEPTH_MAX)) throw new Refusal(400, `The body has more than ${DEPTH_MAX} levels`);
  return json;
}

/** True for every value without violations. */
function isSessionRequest(json: unknown): json is SessionRequest {
  return isRecord(json) && typeof json['computerId'] === 'string';
}

/** One invalid place of a request, as `metadata.problems` of the 400 lists it. */
interface Violation {
  /** JSON pointer into the body; '' for the body itself. */
  readonly pointer: string;
  readonly rule: string;
}

/** Lists everything that is wrong with the body of a request to create a session. */
export function findViolations(json: unknown): Violation[] {
  return [...check(json, SESSION_SCHEMAS['SessionRequest'] ?? {}, '')];
}

/** Checks a value against the keywords that the session schemas use. */
function* check(value: unknown, referring: JsonSchema, pointer: string): Generator<Violation> {
  const schema = SESSION_SCHEMAS[nameOfRef(referring) ?? ''] ?? referring;
  switch (schema.type) {
    case 'string':
      if (!isText(value, schema)) yield { pointer, rule: describeText(schema) };
      return;
    case 'boolean':
      if (typeof value !== 'boolean') yield { pointer, rule: 'boolean' };
      return;
    case 'number':
      // JSON has no infinity, but JSON.parse reads 1e400 as one.
      if (!Number.isFinite(value)) yield { pointer, rule: 'finite number' };
      return;
    case 'array':
      if (Array.isArray(value)) yield* checkMembers(value, pointer, () => schema.items);
      else yield { pointer, rule: 'array' };
      return;
    case 'object':
      if (isRecord(value)) yield* checkObject(value, schema, pointer);
      else yield { pointer, rule: 'object' };
  }
}

function* checkObject(
  value: Readonly<Record<string, unknown>>,
  { required = [], properties = {}, additionalProperties }: JsonSchema,
  pointer: string,
): Generator<Violation> {
  for (const name of required) {
    if (!Object.hasOwn(value, name)) yield { pointer: `${pointer}/${name}`, rule: 'required' };
  }
  const known = new Map(Object.entries(properties));
  yield* checkMembers(value, pointer, (key) => known.get(key) ?? additionalProperties);
}

function* checkMembers(
  value: object,
  pointer: string,
  schemaOf: (key: string) => JsonSchema | false | undefined,
): Generator<Violation> {
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const schema = schemaOf(key);
    if (schema === false) yield { pointer: at, rule: 'no such property' };
    else if (schema !== undefined) yield* check(member, schema, at);
  }
}

/** Lengths count code points, as in JSON Schema. */
function isText(value: unknown, schema: JsonSchema): boolean {
  if (typeof value !== 'string') return false;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  // A code point has two code units at most, so a much longer text need not be counted.
  if (value.length > 2 * maxLength || [...value].length > maxLength || value.length < minLength) return false;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  return pattern === undefined || new RegExp(pattern, 'u').test(value);
}

function describeText({ description, enum: choices, minLength, maxLength }: JsonSchema): string {
  if (typeof description === 'string') return description;
  if (choices !== undefined) return choices.join('|');
  if (maxLength !== undefined) return `string of ${minLength ?? 0} to ${maxLength} characters`;
  return minLength === undefined ? 'string' : 'non-empty string';
}
