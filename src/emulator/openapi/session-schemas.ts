import {
  choice,
  closedRecord,
  described,
  flag,
  type JsonSchema,
  type JsonSchemas,
  list,
  map,
  number,
  record,
  ref,
  text,
} from './building-blocks.ts';

const identifier: JsonSchema = { type: 'string', minLength: 1 };
const instant: JsonSchema = { type: 'integer', description: 'Unix milliseconds.' };

/** Prefix of the name of a custom model. */
const CUSTOM = 'custom:';
/** Matches text that does not start with {@link CUSTOM}, without a look-ahead, which some dialects lack. */
const notCustom = [...CUSTOM].map((char, at) => `${CUSTOM.slice(0, at)}([^${char}]|$)`).join('|');
/** A custom model needs a name. ECMA-262, which JSON Schema refers to, ends the dot at U+2028 and U+2029 too. */
const MODEL_PATTERN = `^(${notCustom}|${CUSTOM}.+$)`;

const settings: JsonSchemas = {
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
export const SESSION_SCHEMAS: JsonSchemas = {
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
