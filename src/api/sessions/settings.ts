import Type, { type Static } from 'typebox';

/** Values of `reasoningEffort` and `specModeReasoningEffort` (specification, section 2.1). */
export const REASONING_EFFORTS = [
  'none',
  'dynamic',
  'off',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const;

/** Values of `interactionMode` (section 2.1). */
export const INTERACTION_MODES = ['auto', 'spec', 'agi', 'mission'] as const;

/** Values of `autonomyLevel` (section 2.1). */
export const AUTONOMY_LEVELS = ['off', 'low', 'medium', 'high'] as const;

/** Values of the deprecated `autonomyMode` (section 2.1). */
export const AUTONOMY_MODES = ['normal', 'spec', 'auto-low', 'auto-medium', 'auto-high'] as const;

/** The compaction model that means the session's own model (section 2.1). */
export const CURRENT_MODEL = 'current-model';

const closed = { additionalProperties: false } as const;

/** Token usage (section 2.2): no property besides these. */
export const TokenUsage = Type.Object(
  {
    inputTokens: Type.Number(),
    outputTokens: Type.Number(),
    cacheCreationTokens: Type.Number(),
    cacheReadTokens: Type.Number(),
    thinkingTokens: Type.Number(),
    serviceCredits: Type.Optional(Type.Number()),
  },
  closed,
);
export type TokenUsage = Static<typeof TokenUsage>;

/** A map with any keys. Type.Record would not check the values of keys with a line break: its pattern is `^.*$`. */
function mapOf<Element extends Type.TSchema>(element: Element) {
  return Type.Unsafe<Record<string, Static<Element>>>(Type.Object({}, { additionalProperties: element }));
}

/** A tag of a session (section 2.1). */
export const Tag = Type.Object(
  { name: Type.String({ minLength: 1 }), metadata: Type.Optional(mapOf(Type.String())) },
  closed,
);
export type Tag = Static<typeof Tag>;

/** An identifier of a list that the specification omits: any text that is not empty. */
const OpenIdentifier = Type.String({ minLength: 1 });

/** As {@link OpenIdentifier}, but `custom:` must be followed by a model: `^custom:.+$` (section 2.1). */
const CompactionModel = Type.String({ minLength: 1, pattern: '^(?!custom:)|^custom:.+$' });

/** Settings of a session in a request (section 2.1). All are optional; unknown ones are rejected. */
export const SessionSettings = Type.Object(
  {
    model: Type.Optional(Type.String()),
    reasoningEffort: Type.Optional(Type.Enum(REASONING_EFFORTS)),
    interactionMode: Type.Optional(Type.Enum(INTERACTION_MODES)),
    autonomyLevel: Type.Optional(Type.Enum(AUTONOMY_LEVELS)),
    /** @deprecated Use interactionMode plus autonomyLevel. */
    autonomyMode: Type.Optional(Type.Enum(AUTONOMY_MODES)),
    specModeModel: Type.Optional(Type.String()),
    specModeReasoningEffort: Type.Optional(Type.Enum(REASONING_EFFORTS)),
    runInWorktree: Type.Optional(Type.Boolean()),
    providerLock: Type.Optional(OpenIdentifier),
    providerLockTimestamp: Type.Optional(Type.String()),
    apiProviderLock: Type.Optional(OpenIdentifier),
    assistantActiveTimeMs: Type.Optional(Type.Number()),
    tokenUsage: Type.Optional(TokenUsage),
    inclusiveTokenUsage: Type.Optional(TokenUsage),
    childInclusiveTokenUsageBySessionId: Type.Optional(mapOf(TokenUsage)),
    archivedAt: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Tag)),
    enabledToolIds: Type.Optional(Type.Array(Type.String())),
    disabledToolIds: Type.Optional(Type.Array(Type.String())),
    compactionModel: Type.Optional(CompactionModel),
    compactionThresholdCheckEnabled: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type SessionSettings = Static<typeof SessionSettings>;
