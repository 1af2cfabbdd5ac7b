import {
  described,
  flag,
  type JsonSchema,
  list,
  map,
  number,
  record,
  ref,
  text,
} from '../openapi/json-schema.ts';

const closed = { additionalProperties: false };
const closedRecord = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[],
): JsonSchema => ({
  ...record(properties, optional),
  ...closed,
});
const choice = (...values: readonly string[]): JsonSchema => ({ type: 'string', enum: values });
const effort = choice('none', 'dynamic', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');
const identifier: JsonSchema = { type: 'string', minLength: 1 };
const instant: JsonSchema = { type: 'integer', description: 'Unix milliseconds.' };

const settings: Readonly<Record<string, JsonSchema>> = {
  model: text,
  reasoningEffort: effort,
  interactionMode: choice('auto', 'spec', 'agi', 'mission'),
  autonomyLevel: choice('off', 'low', 'medium', 'high'),
  autonomyMode: {
    ...choice('normal', 'spec', 'auto-low', 'auto-medium', 'auto-high'),
    deprecated: true,
    description: 'Use interactionMode plus autonomyLevel.',
  },
  specModeModel: text,
  specModeReasoningEffort: effort,
  runInWorktree: flag,
  providerLock: identifier,
  providerLockTimestamp: text,
  apiProviderLock: identifier,
  assistantActiveTimeMs: number,
  tokenUsage: ref('TokenUsage'),
  inclusiveTokenUsage: ref('TokenUsage'),
  childInclusiveTokenUsageBySessionId: map(ref('TokenUsage'), 'By child session id.'),
  archivedAt: text,
  tags: list(closedRecord({ name: identifier, metadata: map(text, 'Any names.') }, ['metadata'])),
  enabledToolIds: list(text),
  disabledToolIds: list(text),
  compactionModel: described(
    { ...identifier, pattern: '^(?!custom:)|^custom:.+$' },
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
      status: choice('idle', 'pending', 'running'),
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

const json = (name: string) => ({ 'application/json': { schema: ref(name) } });

/** The operation of `/api/v0/sessions` (section 4.1). */
export const SESSION_OPERATIONS = {
  post: {
    operationId: 'createSession',
    summary: 'Creates a session on a computer. Not idempotent.',
    security: [{ apiKey: [] }, { jwt: [] }],
    requestBody: { required: true, content: json('SessionRequest') },
    responses: {
      201: { description: 'The session.', content: json('Session') },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { description, content: json('SessionProblem') },
        ]),
      ),
    },
  },
} as const;
