import { EXAMPLES } from './examples.ts';
import { choice, described, flag, type JsonSchema, list, map, record, ref, text } from './json-schema.ts';
import { refusals, response } from './responses.ts';
import { TAGS } from './tags.ts';

const closed = { additionalProperties: false };
const closedRecord = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[],
): JsonSchema => ({
  ...record(properties, optional),
  ...closed,
});
const number: JsonSchema = { type: 'number' };
const identifier: JsonSchema = { type: 'string', minLength: 1 };
const instant: JsonSchema = { type: 'integer', description: 'Unix milliseconds.' };

/** What begins the name of a model of one's own. */
const CUSTOM = 'custom:';
/** Holds for text that does not begin with {@link CUSTOM}. Without a look-ahead, which some dialects do not have. */
const notCustom = [...CUSTOM].map((char, at) => `${CUSTOM.slice(0, at)}([^${char}]|$)`).join('|');
/**
 * A model of one's own needs a name without a line end. Those are listed as characters, because `.` excludes others in
 * ECMAScript than elsewhere, and dialects differ in how they escape U+2028.
 */
const MODEL_PATTERN = `^(${notCustom}|${CUSTOM}[^\n\r\u2028\u2029]+$)`;

const settings: Readonly<Record<string, JsonSchema>> = {
  model: text,
  reasoningEffort: ref('ReasoningEffort'),
  interactionMode: ref('InteractionMode'),
  autonomyLevel: ref('AutonomyLevel'),
  autonomyMode: {
    ...ref('AutonomyMode'),
    deprecated: true,
    description: 'Use interactionMode plus autonomyLevel.',
  },
  specModeModel: text,
  specModeReasoningEffort: ref('ReasoningEffort'),
  runInWorktree: flag,
  providerLock: identifier,
  providerLockTimestamp: text,
  apiProviderLock: identifier,
  assistantActiveTimeMs: number,
  tokenUsage: ref('TokenUsage'),
  inclusiveTokenUsage: ref('TokenUsage'),
  childInclusiveTokenUsageBySessionId: ref('TokenUsageBySessionId'),
  archivedAt: text,
  tags: list(ref('Tag')),
  enabledToolIds: list(text),
  disabledToolIds: list(text),
  compactionModel: described(
    { ...identifier, pattern: MODEL_PATTERN },
    'current-model, a model identifier, or custom: and a name.',
  ),
  compactionThresholdCheckEnabled: flag,
};

/** Schemas of the session endpoint (specification, sections 2.1 to 2.3 and 2.6). */
export const SESSION_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  TokenUsage: closedRecord(
    {
      inputTokens: number,
      outputTokens: number,
      cacheCreationTokens: number,
      cacheReadTokens: number,
      thinkingTokens: number,
      serviceCredits: number,
    },
    ['serviceCredits'],
  ),
  TokenUsageBySessionId: map(ref('TokenUsage'), 'By child session id.'),
  ReasoningEffort: choice('none', 'dynamic', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  InteractionMode: choice('auto', 'spec', 'agi', 'mission'),
  AutonomyLevel: choice('off', 'low', 'medium', 'high'),
  AutonomyMode: choice('normal', 'spec', 'auto-low', 'auto-medium', 'auto-high'),
  Tag: closedRecord({ name: identifier, metadata: map(text, 'Any names.') }, ['metadata']),
  SessionStatus: choice('idle', 'pending', 'running'),
  SessionSettings: closedRecord(settings, Object.keys(settings)),
  SessionRequest: closedRecord(
    {
      computerId: text,
      cwd: { type: 'string', minLength: 1, maxLength: 4096 },
      sessionSettings: ref('SessionSettings'),
    },
    ['cwd', 'sessionSettings'],
  ),
  Session: record(
    {
      sessionId: text,
      title: text,
      status: ref('SessionStatus'),
      messageCount: { type: 'integer' },
      createdAt: instant,
      updatedAt: instant,
      completedAt: instant,
      computerId: text,
      sessionSettings: ref('SessionSettings'),
    },
    ['title', 'completedAt', 'computerId', 'sessionSettings'],
  ),
  SessionProblem: closedRecord(
    {
      detail: text,
      status: { type: 'integer', minimum: 400, maximum: 599 },
      title: described(text, 'The title of the HTTP status.'),
      metadata: { type: 'object', description: 'What the refusal is about.' },
    },
    ['metadata'],
  ),
};

const REFUSALS: Readonly<Record<string, string>> = {
  400: 'The body is not valid JSON or not a valid request, or the computer is not known.',
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
    description: 'Not idempotent: a request that is repeated creates a second session.',
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
