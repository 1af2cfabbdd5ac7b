import {
  choice,
  count,
  counts,
  day,
  described,
  EXAMPLES,
  email,
  figure,
  flag,
  type JsonSchema,
  type JsonSchemas,
  list,
  map,
  record,
  ref,
  row,
  text,
  userId,
} from './building-blocks.ts';

const credits = {
  billable_tokens: described(
    count,
    'Credits consumed, computed from raw input and output tokens with cache discounts.',
  ),
  input_tokens: described(count, 'Raw input.'),
  ...counts('output_tokens cache_read_tokens cache_write_tokens'),
};

const share: JsonSchema = { ...count, maximum: 1 };

/** The elements of the breakdowns within a row. Each has a name, which generated clients use. */
const ELEMENT_SCHEMAS: JsonSchemas = {
  ModelCredits: described(
    record({ model_id: text, model_tier: ref('ModelTier'), ...credits }, [
      'model_tier',
      ...Object.keys(credits),
    ]),
    'Not shown in the specification; the key may also be called model, model_name or group_key.',
  ),
  UserCredits: described(
    row(
      { user_id: userId, user_email: email, by_model: list(ref('ModelCredits')) },
      { billable_tokens: count },
    ),
    'Not shown in the specification; the key may also be called user, id or group_key.',
  ),
  ToolInvocations: row({ tool: text }, { invocations: count }),
  ServerInvocations: row({ server: text }, { invocations: count }),
  NameCount: row({ name: text }, { count }),
  HookCount: row({ event: text, matcher: text, command: text }, { count }),
  ExtensionCount: row({ extension: text }, { count }),
  LanguageCount: row({ language: text }, { count }),
  AutonomyLevelRatio: described(
    row({}, { auto_high: share, auto_medium: share, auto_low: share, manual: share }),
    'Sums to 1.',
  ),
  ClientCounts: map(count, 'By client type: terminal-ui, web, non-interactive-cli.'),
  ModelTier: choice('standard', 'thinking'),
  DelegationLevel: choice('auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'),
};

/**
 * The rows of the analytics endpoints (section 2.4). Dates, ids and breakdowns are always present. A metric may be null
 * or absent, because the specification does not exclude it. A plain row has a breakdown, a grouped row has not.
 */
export const ROW_SCHEMAS: JsonSchemas = {
  ...ELEMENT_SCHEMAS,
  TokensRow: row(
    { date: day, by_model: list(ref('ModelCredits')), by_user: list(ref('UserCredits')) },
    credits,
  ),
  TokensByModelRow: row({ date: day, group_key: described(text, 'The model.') }, credits),
  ToolsRow: row(
    {
      date: day,
      by_tool: list(ref('ToolInvocations')),
      mcp_by_server: described(
        list(ref('ServerInvocations')),
        'One server may occur under names that differ only in letter case.',
      ),
      skills_by_name: list(ref('NameCount')),
      slash_commands_by_name: list(ref('NameCount')),
      hooks_by_event: list(ref('HookCount')),
      tool_autonomy_level_ratio: ref('AutonomyLevelRatio'),
    },
    {
      tool_calls: count,
      mcp_users_with_mcp: described(count, 'Users who used MCP servers.'),
      ...counts('skills_invocations slash_commands_invocations hooks_invocations web_users'),
      autonomy_ratio_avg: described(figure, 'Average tool calls per user turn.'),
      autonomy_ratio_p50: described(figure, 'Median.'),
      autonomy_ratio_p90: described(figure, '90th percentile.'),
      tool_calls_per_session_avg: figure,
      user_turns_per_session_avg: figure,
    },
  ),
  ToolsByToolRow: row({ date: day, group_key: described(text, 'The tool.') }, { tool_calls: count }),
  ActivityRow: row(
    {
      date: day,
      daily_active_users_by_client: described(
        ref('ClientCounts'),
        'A user of several clients counts in each.',
      ),
    },
    {
      daily_active_users: described(count, 'Unique users of the day.'),
      weekly_active_users: described(count, 'Unique users of the trailing 7 days.'),
      monthly_active_users: described(count, 'Unique users of the trailing 30 days.'),
      sessions: described(count, 'Sessions started.'),
      messages: described(count, 'Of users and assistants.'),
      user_messages: count,
    },
  ),
  ActivityByClientRow: row(
    { date: day, group_key: described(text, 'The client type.') },
    { daily_active_users: count },
  ),
  ProductivityRow: row(
    { date: day, by_extension: list(ref('ExtensionCount')), by_language: list(ref('LanguageCount')) },
    counts('files_created files_edited git_commits git_prs_created'),
  ),
  UserRow: row(
    {
      user_id: userId,
      user_email: email,
      date: day,
      primary_model: text,
      primary_model_tier: ref('ModelTier'),
      delegation_level: ref('DelegationLevel'),
      languages: list(text),
    },
    {
      ...counts(
        'tool_calls billable_tokens files_created files_edited git_commits git_prs_created mcp_calls',
      ),
      ...counts('skill_calls slash_commands hooks sessions messages user_messages assistant_messages'),
      autonomy_ratio: figure,
    },
  ),
};

const meta = { org_id: text, start_date: day, end_date: day };

function envelope(rowName: string, metaName = 'Meta'): JsonSchema {
  return record({ data: list(ref(rowName)), meta: ref(metaName) });
}

const readinessReport = record(
  {
    reportId: {
      type: 'string',
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'UUID.',
      examples: [EXAMPLES.reportId],
    },
    createdAt: { type: 'number', description: 'Unix milliseconds; a fraction is possible.' },
    repoUrl: text,
    apps: ref('ReadinessApps'),
    report: ref('ReadinessCriteria'),
    commitHash: text,
    branch: text,
    hasLocalChanges: flag,
    hasNonRemoteCommits: flag,
    modelUsed: ref('ModelUsed'),
    droidVersion: described(text, 'Version of the CLI that created the report.'),
  },
  ['commitHash', 'branch', 'hasLocalChanges', 'hasNonRemoteCommits', 'modelUsed', 'droidVersion'],
);

/** Whole responses: the envelopes of section 2.4, the readiness list of section 4.3, and the error of section 2.6. */
export const ANSWER_SCHEMAS: JsonSchemas = {
  Meta: record(meta),
  UsersMeta: record(
    {
      ...meta,
      has_more: described(flag, 'Whether another page follows.'),
      next_cursor: {
        type: ['string', 'null'],
        description: 'The cursor of the next page. On the last one it is absent, or null by quirk.',
      },
    },
    ['next_cursor'],
  ),
  TokensAnswer: envelope('TokensRow'),
  TokensByModelAnswer: envelope('TokensByModelRow'),
  ToolsAnswer: envelope('ToolsRow'),
  ToolsByToolAnswer: envelope('ToolsByToolRow'),
  ActivityAnswer: envelope('ActivityRow'),
  ActivityByClientAnswer: envelope('ActivityByClientRow'),
  ProductivityAnswer: envelope('ProductivityRow'),
  UsersAnswer: envelope('UserRow', 'UsersMeta'),
  Criterion: record({
    numerator: {
      type: ['number', 'null'],
      minimum: 0,
      description: 'Sub-applications that pass; by quirk null, when the criterion was skipped.',
    },
    denominator: { type: 'number', minimum: 1, description: 'Sub-applications evaluated.' },
    rationale: text,
  }),
  ReadinessApp: record({ description: text }),
  ReadinessApps: map(ref('ReadinessApp'), 'By application path.'),
  ReadinessCriteria: map(ref('Criterion'), 'By criterion id. New criteria appear over time.'),
  ModelUsed: record({ id: text, reasoningEffort: choice('low', 'medium', 'high', 'off') }),
  ReadinessReport: readinessReport,
  ReadinessAnswer: record({ reports: list(ref('ReadinessReport')) }),
  Moved: record({ redirect: described(text, 'Path of the response, also in the header Location.') }),
  Problem: record({
    title: described(text, 'The title of the HTTP status.'),
    detail: text,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    requestId: described(text, 'Also in the header x-request-id.'),
  }),
};
