import fc, { type Arbitrary } from 'fast-check';
import type { DailyStream } from '../../../src/core/stream.ts';

type Json = Record<string, unknown>;

/** The day of all generated rows. */
export const DAY = '2026-02-01';

/** Names that other code has stumbled over. */
const NASTY = [
  '__proto__',
  'constructor',
  'toString',
  "'; DROP TABLE tokens_daily; --",
  '=cmd()',
  '\u001b[31mred\u001b[0m',
  'line\nbreak',
  '"quoted"',
  'İstanbul',
  'STRASSE',
  'straße',
  '\u{1F600}',
  '\uFFFD',
  ' ',
];

/** A name that is not empty. */
export const name: Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'B', '_', '1'), minLength: 1, maxLength: 3 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }).filter(isStorable) },
  { weight: 1, arbitrary: fc.constantFrom(...NASTY) },
);

/** A name that may be empty. */
const anyName = fc.oneof({ weight: 9, arbitrary: name }, { weight: 1, arbitrary: fc.constant('') });

/** A number as the service may publish it; null too. Those of a whole list sum up to what can be kept exactly. */
export const metric: Arbitrary<number | null> = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 100_000 }) },
  { weight: 2, arbitrary: fc.double({ min: 0, max: 1e6, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 0.1, 0.2, 0.3, -1, 2 ** 46 + 1) },
  { weight: 1, arbitrary: fc.constant(null) },
);

const label = fc.option(anyName);

/** Fields that this version does not know. */
const unknownFields: Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      name.map((text) => `new ${text}`),
      fc.jsonValue({ maxDepth: 2 }),
      { maxKeys: 2 },
    ),
  },
);

/** An object with the required fields, any of the optional ones, and some unknown ones. */
function record(required: Record<string, Arbitrary<unknown>>, optional: Record<string, Arbitrary<unknown>>) {
  const known = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
  return fc.tuple(known, unknownFields).map(([fields, others]): Json => ({ ...fields, ...others }));
}

function metrics(...names: string[]): Record<string, Arbitrary<unknown>> {
  return Object.fromEntries(names.map((field) => [field, metric]));
}

function list(element: Arbitrary<unknown>, maxLength = 6): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.array(element, { maxLength }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

const credits = metrics(
  'billable_tokens',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
);

/** The names under which the model of a breakdown element occurs. */
export const MODEL_KEYS = ['model_id', 'model', 'model_name', 'group_key'];

/** One model of a breakdown, its name under any of the known keys. */
export const modelElement: Arbitrary<Json> = fc
  .tuple(fc.constantFrom(...MODEL_KEYS), name, record({}, { model_tier: label, ...credits }))
  .map(([key, model, fields]) => ({ [key]: model, ...fields }));

const date = { date: fc.constant(DAY) };

const tokens = record(date, {
  ...credits,
  by_model: list(modelElement),
  by_user: list(
    record({ user_id: name }, { user_email: label, ...credits, by_model: list(modelElement, 3) }),
    4,
  ),
});

const named = list(record({ name: anyName }, metrics('count')));

/** The metrics of a row of /tools, in the order of its table. */
export const TOOLS_METRICS = [
  'tool_calls',
  'mcp_users_with_mcp',
  'skills_invocations',
  'slash_commands_invocations',
  'hooks_invocations',
  'web_users',
  'autonomy_ratio_avg',
  'autonomy_ratio_p50',
  'autonomy_ratio_p90',
  'tool_calls_per_session_avg',
  'user_turns_per_session_avg',
];

const tools = record(date, {
  ...metrics(...TOOLS_METRICS),
  by_tool: list(record({ tool: anyName }, metrics('invocations'))),
  mcp_by_server: list(record({ server: anyName }, metrics('invocations'))),
  skills_by_name: named,
  slash_commands_by_name: named,
  hooks_by_event: list(record({ event: anyName }, { matcher: label, command: label, ...metrics('count') })),
  tool_autonomy_level_ratio: fc.option(record({}, metrics('auto_high', 'auto_medium', 'auto_low', 'manual'))),
});

const activity = record(date, {
  ...metrics(
    'daily_active_users',
    'weekly_active_users',
    'monthly_active_users',
    'sessions',
    'messages',
    'user_messages',
  ),
  daily_active_users_by_client: fc.option(
    fc.dictionary(fc.oneof(fc.constantFrom('terminal-ui', 'web', 'non-interactive-cli'), anyName), metric, {
      maxKeys: 4,
    }),
  ),
});

const productivity = record(date, {
  ...metrics('files_created', 'files_edited', 'git_commits', 'git_prs_created'),
  by_extension: list(record({ extension: anyName }, metrics('count'))),
  by_language: list(record({ language: anyName }, metrics('count'))),
});

/** The metrics of a row of /users. */
export const USER_METRICS = [
  'tool_calls',
  'billable_tokens',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
  'autonomy_ratio',
];

const users = record(
  { ...date, user_id: name },
  {
    user_email: label,
    ...metrics(...USER_METRICS),
    primary_model: label,
    primary_model_tier: fc.option(fc.constantFrom('standard', 'thinking', 'new')),
    delegation_level: fc.option(fc.constantFrom('auto-high', 'spec', 'new')),
    languages: list(anyName),
  },
);

/** A row of every daily stream that keeps to its shape, as JSON.parse would hand it out. */
export const rowOf: Readonly<Record<DailyStream, Arbitrary<Json>>> = {
  tokens: parsed(tokens),
  tools: parsed(tools),
  activity: parsed(activity),
  productivity: parsed(productivity),
  users: parsed(users),
};

/** A readiness report that keeps to its shape. */
export const report: Arbitrary<Json> = parsed(
  record(
    {
      reportId: name,
      createdAt: fc.integer({ min: 0, max: 2 ** 42 }),
      repoUrl: anyName,
      apps: fc.dictionary(anyName, record({}, { description: label }), { maxKeys: 3 }),
      report: fc.dictionary(
        anyName,
        record({}, { ...metrics('numerator', 'denominator'), rationale: label }),
        { maxKeys: 4 },
      ),
    },
    {
      commitHash: label,
      branch: label,
      hasLocalChanges: fc.option(fc.boolean()),
      hasNonRemoteCommits: fc.option(fc.boolean()),
      modelUsed: fc.option(record({}, { id: label, reasoningEffort: label })),
      droidVersion: label,
    },
  ),
);

/** Objects with the keys that JSON.parse makes, `__proto__` too, and numbers as JSON holds them. */
function parsed(arbitrary: Arbitrary<Json>): Arbitrary<Json> {
  return arbitrary.map((value): Json => JSON.parse(JSON.stringify(value)));
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
