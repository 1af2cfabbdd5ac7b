import fc from 'fast-check';

const CHOICES = {
  effort: ['none', 'dynamic', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  interaction: ['auto', 'spec', 'agi', 'mission'],
  level: ['off', 'low', 'medium', 'high'],
  mode: ['normal', 'spec', 'auto-low', 'auto-medium', 'auto-high'],
};

/** Names that a careless check finds on every object. */
const key = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'a\nb',
      '',
      '0',
      'a/b',
      '~',
      'name',
      'model',
    ),
  },
);
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '\n', '\u2028', '🦉', '\ud800'),
);
const identifier = text.filter((value) => value !== '');
const choice = (values: readonly string[]) => fc.constantFrom(...values);
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());

/** An object with own properties only, also for the name `__proto__`. */
function mapOf<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<object> {
  return fc.array(fc.tuple(key, value), { maxLength: 3 }).map((members) => Object.fromEntries(members));
}

const usage = fc.record(
  {
    inputTokens: number,
    outputTokens: number,
    cacheCreationTokens: number,
    cacheReadTokens: number,
    thinkingTokens: number,
    serviceCredits: number,
  },
  {
    requiredKeys: ['inputTokens', 'outputTokens', 'cacheCreationTokens', 'cacheReadTokens', 'thinkingTokens'],
  },
);
const tag = fc.record({ name: identifier, metadata: mapOf(text) }, { requiredKeys: ['name'] });
const compactionModel = fc.oneof(
  fc.constant('current-model'),
  identifier.filter((value) => !value.startsWith('custom:')),
  fc.stringMatching(/^custom:[^\n\r\u2028\u2029]+$/),
);

/** Valid settings of the specification, section 2.1. */
export const validSettings: fc.Arbitrary<object> = fc.record(
  {
    model: text,
    reasoningEffort: choice(CHOICES.effort),
    interactionMode: choice(CHOICES.interaction),
    autonomyLevel: choice(CHOICES.level),
    autonomyMode: choice(CHOICES.mode),
    specModeModel: text,
    specModeReasoningEffort: choice(CHOICES.effort),
    runInWorktree: fc.boolean(),
    providerLock: identifier,
    providerLockTimestamp: text,
    apiProviderLock: identifier,
    assistantActiveTimeMs: number,
    tokenUsage: usage,
    inclusiveTokenUsage: usage,
    childInclusiveTokenUsageBySessionId: mapOf(usage),
    archivedAt: text,
    tags: fc.array(tag, { maxLength: 3 }),
    enabledToolIds: fc.array(text, { maxLength: 3 }),
    disabledToolIds: fc.array(text, { maxLength: 3 }),
    compactionModel,
    compactionThresholdCheckEnabled: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Values close to accepted ones, or far from them. */
const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -0,
    '',
    'low',
    'AUTO',
    'auto-low\n',
    'custom:',
    'custom:\n',
    'custom:a\nb',
    'custom:x',
  ),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, {}, [], [null], [[]], [{}]),
  text,
  number,
  usage,
  fc.array(tag, { maxLength: 2 }),
  mapOf(text),
  fc.jsonValue({ maxDepth: 2 }),
);

/** One change somewhere in a value: a member replaced, removed, or added. */
function changed(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value)) {
    const inside = value.map((item: unknown, index) =>
      changed(item).map((other) => value.with(index, other)),
    );
    return fc.oneof(
      anything,
      anything.map((extra) => [...value, extra]),
      ...inside,
    );
  }
  if (typeof value !== 'object' || value === null) return anything;
  const members = Object.entries(value);
  const replaced = members.map(([name, member]) =>
    changed(member).map((other) =>
      Object.fromEntries([...members.filter(([own]) => own !== name), [name, other]]),
    ),
  );
  const removed = members.map(([name]) =>
    fc.constant(Object.fromEntries(members.filter(([own]) => own !== name))),
  );
  const added = fc.tuple(key, anything).map((member) => Object.fromEntries([...members, member]));
  return fc.oneof(added, ...replaced, ...removed);
}

/** Settings, about half of them valid; the others differ from valid ones in one to three places, or completely. */
export const someSettings: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: validSettings },
  { weight: 7, arbitrary: validSettings.chain(changed) },
  { weight: 6, arbitrary: validSettings.chain(changed).chain(changed).chain(changed) },
  { weight: 1, arbitrary: anything },
);
