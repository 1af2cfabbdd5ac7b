import { ref } from '../input/json-schema.ts';
import { EXAMPLES } from './examples.ts';
import { refusals, response } from './responses.ts';
import { TAGS } from './tags.ts';

const REFUSALS: Readonly<Record<string, string>> = {
  400: 'The body is not valid JSON or not a valid request, or the computer is unknown.',
  401: 'Missing or invalid credential.',
  403: 'Sessions are not enabled for the organization. The emulator sends it by quirk.',
  405: 'Only POST is allowed.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  429: 'Too many requests. The emulator sends it by quirk or rule.',
  500: 'Internal error.',
};

/** The operation of `/api/v0/sessions` (section 4.1). */
export const SESSION_OPERATIONS = {
  post: {
    operationId: 'createSession',
    tags: [TAGS.sessions.name],
    summary: 'Creates a session on a computer.',
    description: 'Not idempotent: a repeated request creates a second session.',
    security: [{ apiKey: [] }, { jwt: [] }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: ref('SessionRequest'), example: EXAMPLES.session } },
    },
    responses: {
      201: response(201, 'The session.', ref('Session')),
      ...refusals(REFUSALS, 'SessionProblem'),
    },
  },
} as const;
