import { EVERY_SETTING, USAGE } from './emulated-service.ts';

const { inputTokens: _, ...LACKING } = USAGE;
const EFFORTS = ['none', 'dynamic', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Accepted and rejected values of one field of the settings (specification, section 2.1). */
export interface FieldRow {
  readonly field: string;
  readonly good: readonly unknown[];
  /** Each with the path, below `sessionSettings`, at which it is wrong; the field's own unless given. */
  readonly bad: readonly (readonly [value: unknown, path?: string])[];
}

const NO_TEXT = [[5], [null], [true], [{}], [['a']]] as const;
const NO_CHOICE = [[''], ['LOW'], ['auto '], ['low\n'], [null], [1], [['low']]] as const;
const NO_NUMBER = [['5'], [null], [true], [{}]] as const;

const NO_USAGE = (field: string): FieldRow['bad'] => [
  [null],
  [[]],
  ['x'],
  [LACKING, `${field}.inputTokens`],
  [{ ...USAGE, outputTokens: '0' }, `${field}.outputTokens`],
  [{ ...USAGE, cacheReadTokens: null }, `${field}.cacheReadTokens`],
  [{ ...USAGE, cacheCreationTokens: [] }, `${field}.cacheCreationTokens`],
  [{ ...USAGE, thinkingTokens: true }, `${field}.thinkingTokens`],
  [{ ...USAGE, serviceCredits: 'many' }, `${field}.serviceCredits`],
  [{ ...USAGE, totalTokens: 5 }, `${field}.totalTokens`],
];
const USAGES = [USAGE, { ...USAGE, serviceCredits: 0 }, { ...USAGE, inputTokens: 1e300 }];

/** Every row of the table of settings. */
export const FIELD_ROWS: readonly FieldRow[] = [
  { field: 'model', good: ['atlas-4', ''], bad: NO_TEXT },
  { field: 'reasoningEffort', good: EFFORTS, bad: NO_CHOICE },
  { field: 'interactionMode', good: ['auto', 'spec', 'agi', 'mission'], bad: NO_CHOICE },
  { field: 'autonomyLevel', good: ['off', 'low', 'medium', 'high'], bad: [...NO_CHOICE, ['max']] },
  {
    field: 'autonomyMode',
    good: ['normal', 'spec', 'auto-low', 'auto-medium', 'auto-high'],
    bad: [...NO_CHOICE, ['auto-off'], ['auto']],
  },
  { field: 'specModeModel', good: ['atlas-4'], bad: NO_TEXT },
  { field: 'specModeReasoningEffort', good: EFFORTS, bad: NO_CHOICE },
  { field: 'runInWorktree', good: [true, false], bad: [['true'], [0], [null]] },
  {
    field: 'providerLock',
    good: ['generic-chat-completion-api', 'service', 'a provider of 2030'],
    bad: [...NO_TEXT, ['']],
  },
  { field: 'providerLockTimestamp', good: ['2026-02-10T12:00:00Z', 'soon'], bad: NO_TEXT },
  { field: 'apiProviderLock', good: ['some-cloud'], bad: [...NO_TEXT, ['']] },
  { field: 'assistantActiveTimeMs', good: [0, 1.5, -3], bad: NO_NUMBER },
  { field: 'tokenUsage', good: USAGES, bad: NO_USAGE('tokenUsage') },
  { field: 'inclusiveTokenUsage', good: USAGES, bad: NO_USAGE('inclusiveTokenUsage') },
  {
    field: 'childInclusiveTokenUsageBySessionId',
    good: [{}, { a: USAGE, 'b c': USAGE }, JSON.parse(`{"__proto__":${JSON.stringify(USAGE)}}`)],
    bad: [
      [null],
      [[]],
      [{ a: LACKING }, 'childInclusiveTokenUsageBySessionId.a.inputTokens'],
      [{ 'a\nb': 5 }, 'childInclusiveTokenUsageBySessionId["a\\nb"]'],
      [{ a: { ...USAGE, extra: 1 } }, 'childInclusiveTokenUsageBySessionId.a.extra'],
    ],
  },
  { field: 'archivedAt', good: ['2026-02-10T12:00:00Z'], bad: NO_TEXT },
  {
    field: 'tags',
    good: [
      [],
      [{ name: 'a' }],
      [
        { name: 'a', metadata: {} },
        { name: 'b', metadata: { k: 'v' } },
      ],
    ],
    bad: [
      [null],
      [{}],
      ['a'],
      [['a'], 'tags[0]'],
      [[{}], 'tags[0].name'],
      [[{ name: '' }], 'tags[0].name'],
      [[{ name: 5 }], 'tags[0].name'],
      [[{ name: 'a' }, { name: 'b', colour: 'red' }], 'tags[1].colour'],
      [[{ name: 'a', metadata: null }], 'tags[0].metadata'],
      [[{ name: 'a', metadata: [] }], 'tags[0].metadata'],
      [[{ name: 'a', metadata: { k: 5 } }], 'tags[0].metadata.k'],
    ],
  },
  {
    field: 'enabledToolIds',
    good: [[], ['read', '']],
    bad: [[null], ['read'], [['read', 5], 'enabledToolIds[1]']],
  },
  { field: 'disabledToolIds', good: [[], ['web']], bad: [[null], [{}], [[null], 'disabledToolIds[0]']] },
  {
    field: 'compactionModel',
    good: ['current-model', 'atlas-4', 'custom:mine', 'custom: ', 'customised', 'Custom:'],
    bad: [...NO_TEXT, [''], ['custom:'], ['custom:\n'], ['custom:a\nb']],
  },
  { field: 'compactionThresholdCheckEnabled', good: [true, false], bad: [['yes'], [1], [null]] },
];

/** The names of all settings, to see that no row is missing. */
export const FIELD_NAMES = Object.keys(EVERY_SETTING);

/** Names that no settings object may have. */
export const UNKNOWN_NAMES = [
  'Model',
  'modelName',
  '',
  'constructor',
  'toString',
  '__proto__',
  'x/y~z',
] as const;
