import {
  count,
  day,
  described,
  email,
  type JsonSchema,
  list,
  map,
  number,
  record,
  ref,
  text,
  userId,
} from './json-schema.ts';

const credits = {
  billable_tokens: described(
    count,
    'Credits consumed, from raw input and output tokens with cache discounts.',
  ),
  input_tokens: described(count, 'Raw input.'),
  output_tokens: count,
};

const cache = { cache_read_tokens: count, cache_write_tokens: count };
const named = record({ name: text, count });
const share = { type: 'number', minimum: 0, maximum: 1 };

/** The rows of the analytics endpoints, as the emulator serves them with its default quirks (section 2.4). */
export const ROW_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ModelElement: {
    ...record({ model_id: text, model_tier: text, ...credits, ...cache }, [
      'model_tier',
      ...Object.keys(cache),
    ]),
    description: 'Not shown in the specification; the key may also be called model, model_name or group_key.',
  },
  UserElement: {
    ...record({
      user_id: userId,
      user_email: email,
      billable_tokens: count,
      by_model: list(ref('ModelElement')),
    }),
    description: 'Not shown in the specification; the key may also be called user, id or group_key.',
  },
  TokensRow: record({
    date: day,
    ...credits,
    ...cache,
    by_model: list(ref('ModelElement')),
    by_user: list(ref('UserElement')),
  }),
  TokensByModelRow: record(
    { date: day, group_key: described(text, 'The model.'), ...credits, ...cache },
    Object.keys(cache),
  ),
  ToolsRow: record({
    date: day,
    tool_calls: count,
    by_tool: list(record({ tool: text, invocations: count })),
    mcp_users_with_mcp: described(count, 'Users who used MCP servers.'),
    mcp_by_server: described(
      list(record({ server: text, invocations: count })),
      'One server may occur under names that differ by letter case.',
    ),
    skills_invocations: count,
    skills_by_name: list(named),
    slash_commands_invocations: count,
    slash_commands_by_name: list(named),
    hooks_invocations: count,
    hooks_by_event: list(record({ event: text, matcher: text, command: text, count })),
    web_users: count,
    autonomy_ratio_avg: described(number, 'Average tool calls per user turn.'),
    autonomy_ratio_p50: number,
    autonomy_ratio_p90: number,
    tool_calls_per_session_avg: number,
    user_turns_per_session_avg: number,
    tool_autonomy_level_ratio: described(
      record({ auto_high: share, auto_medium: share, auto_low: share, manual: share }),
      'Sums to 1.',
    ),
  }),
  ToolsByToolRow: record({ date: day, group_key: described(text, 'The tool.'), tool_calls: count }),
  ActivityRow: record({
    date: day,
    daily_active_users: described(count, 'Unique users of the day.'),
    weekly_active_users: described(count, 'Unique users of the trailing 7 days.'),
    monthly_active_users: described(count, 'Unique users of the trailing 30 days.'),
    daily_active_users_by_client: map(
      count,
      'By client type: terminal-ui, web, non-interactive-cli. A user of several clients counts in each.',
    ),
    sessions: described(count, 'Sessions started.'),
    messages: described(count, 'Of users and assistants.'),
    user_messages: count,
  }),
  ActivityByClientRow: record({
    date: day,
    group_key: described(text, 'The client type.'),
    daily_active_users: count,
  }),
  ProductivityRow: record({
    date: day,
    files_created: count,
    files_edited: count,
    by_extension: list(record({ extension: text, count })),
    by_language: list(record({ language: text, count })),
    git_commits: count,
    git_prs_created: count,
  }),
  UserRow: record({
    user_id: userId,
    user_email: email,
    date: day,
    tool_calls: count,
    billable_tokens: count,
    primary_model: text,
    primary_model_tier: { type: 'string', enum: ['standard', 'thinking'] },
    files_created: count,
    files_edited: count,
    git_commits: count,
    git_prs_created: count,
    mcp_calls: count,
    skill_calls: count,
    slash_commands: count,
    hooks: count,
    sessions: count,
    messages: count,
    user_messages: count,
    assistant_messages: count,
    autonomy_ratio: number,
    delegation_level: { type: 'string', enum: ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'] },
    languages: list(text),
  }),
};
