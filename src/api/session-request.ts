import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Violation, violationsOf } from '../checks/index.ts';
import { UsageError } from '../core/errors.ts';

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
const AUTONOMY_MODES = ['normal', 'spec', 'auto-low', 'auto-medium', 'auto-high'] as const;

/** The compaction model that means the session's own model (section 2.1). */
const CURRENT_MODEL = 'current-model';

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

/** Code points of `cwd` (specification, section 8). */
const CWD_CHARS = { min: 1, max: 4096 } as const;

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

/** A deprecated or unknown value in a request. The service may accept it. */
export interface SessionWarning {
  /** Its path in the request: `sessionSettings.autonomyMode`. */
  readonly path: string;
  readonly message: string;
}

const List = Type.Optional(Type.Array(Type.String()));

/**
 * The identifiers that you know of the lists that the specification omits: `providers` for `providerLock`,
 * `apiProviders` for `apiProviderLock`, `compactionModels` for `compactionModel`, where `current-model` and `custom:…`
 * are always known. An unknown identifier is still sent, with a warning. A missing list never warns.
 */
export const KnownIdentifiers = Type.Object(
  { providers: List, apiProviders: List, compactionModels: List },
  { additionalProperties: false },
);
export type KnownIdentifiers = Static<typeof KnownIdentifiers>;

const knownCheck = Compile(KnownIdentifiers);

/**
 * Checks known identifiers.
 * @throws {UsageError} naming every violation with its path.
 */
export function parseKnownIdentifiers(value: unknown): KnownIdentifiers {
  if (knownCheck.Check(value)) return value;
  const violations = violationsOf(knownCheck, value, 'document');
  throw new UsageError(
    `known identifiers: ${violations.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    { hint: 'write them like {"providers": ["service"], "apiProviders": [], "compactionModels": []}' },
  );
}

/** What each deprecated autonomyMode means in interactionMode and autonomyLevel. */
const MEANING: Readonly<Record<NonNullable<SessionSettings['autonomyMode']>, string>> = {
  normal: 'interactionMode "auto" with autonomyLevel "off"',
  'auto-low': 'interactionMode "auto" with autonomyLevel "low"',
  'auto-medium': 'interactionMode "auto" with autonomyLevel "medium"',
  'auto-high': 'interactionMode "auto" with autonomyLevel "high"',
  spec: 'interactionMode "spec"',
};

/** The warnings about a request that is valid. */
export function sessionWarnings(
  { sessionSettings = {} }: SessionRequest,
  known: KnownIdentifiers = {},
): SessionWarning[] {
  const { autonomyMode, providerLock, apiProviderLock, compactionModel } = sessionSettings;
  const isOwnModel = compactionModel === CURRENT_MODEL || compactionModel?.startsWith('custom:') === true;
  return [
    ...(autonomyMode === undefined ? [] : [deprecationWarning(autonomyMode)]),
    ...unknownValueWarning('providerLock', providerLock, known.providers),
    ...unknownValueWarning('apiProviderLock', apiProviderLock, known.apiProviders),
    ...(isOwnModel ? [] : unknownValueWarning('compactionModel', compactionModel, known.compactionModels)),
  ];
}

function deprecationWarning(mode: NonNullable<SessionSettings['autonomyMode']>): SessionWarning {
  return {
    path: 'sessionSettings.autonomyMode',
    message:
      'autonomyMode is deprecated in favour of interactionMode plus autonomyLevel; ' +
      `instead of "${mode}" write ${MEANING[mode]}`,
  };
}

function unknownValueWarning(
  name: string,
  value: string | undefined,
  known: readonly string[] | undefined,
): SessionWarning[] {
  if (value === undefined || known === undefined || known.includes(value)) return [];
  return [
    {
      path: `sessionSettings.${name}`,
      message: `${name} "${value}" is not among the known ones; it is sent unchanged`,
    },
  ];
}
