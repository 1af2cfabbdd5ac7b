import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { UsageError } from '../../core/errors.ts';
import { SessionSettings } from './settings.ts';
import { type Violation, violationsOf } from './violations.ts';

/** Code points of `cwd` (specification, section 8). */
export const CWD_CHARS = { min: 1, max: 4096 } as const;

/** A request that creates a session (section 4.1). Other properties are not allowed. */
export const SessionRequest = Type.Object(
  {
    computerId: Type.String(),
    cwd: Type.Optional(Type.String({ minLength: CWD_CHARS.min, maxLength: CWD_CHARS.max })),
    sessionSettings: Type.Optional(SessionSettings),
  },
  { additionalProperties: false },
);
export type SessionRequest = Static<typeof SessionRequest>;

const check = Compile(SessionRequest);

/** Maximum number of violations that one error message names; it counts the rest. */
const NAMED_MAX = 50;

/** All violations of a request; none if it may be sent. */
export function sessionRequestViolations(request: unknown): Violation[] {
  return check.Check(request) ? [] : violationsOf(check, request);
}

/**
 * Checks a request.
 * @throws {UsageError} naming every violation with its path.
 */
export function parseSessionRequest(request: unknown): SessionRequest {
  if (check.Check(request)) return request;
  throw refusal(sessionRequestViolations(request));
}

/**
 * The JSON text of a valid request. The text itself is checked, because an object may have a `toJSON`.
 * @throws {UsageError} naming every violation with its path; nothing was sent.
 */
export function sessionRequestJson(request: unknown): string {
  const json = JSON.stringify(parseSessionRequest(request));
  parseSessionRequest(JSON.parse(json));
  return json;
}

function refusal(violations: readonly Violation[]): UsageError {
  const named = violations.slice(0, NAMED_MAX).map(({ path, message }) => `${path}: ${message}`);
  const more = violations.length > NAMED_MAX ? [`and ${violations.length - NAMED_MAX} more`] : [];
  return new UsageError(`create a session: ${[...named, ...more].join('; ')}`, {
    hint: 'correct these and try again; nothing was sent',
  });
}
