import type { Dimension } from '../metrics/define.ts';
import { ROLLUP_SUMS } from '../tables/rollups.ts';

/**
 * An example question for a metric, with plain SQL that gives the same answer as the metric: the column `value`, and the
 * dimensions by name, over all stored days of a warehouse with one organization. A test compares the two.
 */
export interface MetricExample {
  readonly metric: string;
  readonly question: string;
  readonly by: readonly Dimension[];
  readonly sql: string;
}

type Example = Omit<MetricExample, 'metric'>;

const monthly = (question: string, expression: string, table = 'org_monthly'): Example => ({
  question,
  by: ['month'],
  sql: `SELECT month, ${expression} AS value FROM ${table} ORDER BY month`,
});

const daily = (question: string, expression: string, table: string): Example => ({
  question,
  by: ['date'],
  sql: `SELECT date, ${expression} AS value FROM ${table} ORDER BY date`,
});

const total = (question: string, expression: string, table: string): Example => ({
  question,
  by: [],
  sql: `SELECT ${expression} AS value FROM ${table}`,
});

const parts = (question: string, by: Dimension, [part, value, table]: readonly [string, string, string]) => ({
  question,
  by: [by],
  sql: `SELECT ${part} AS ${by}, ${value} AS value FROM ${table} GROUP BY ${part} ORDER BY ${by}`,
});

const sums: Readonly<Record<(typeof ROLLUP_SUMS)[number], string>> = {
  billable_tokens: 'How many credits did users consume?',
  tool_calls: 'How many tool calls were there?',
  sessions: 'How many sessions did users start?',
  messages: 'How many messages were sent?',
  user_messages: 'How many messages came from users?',
  assistant_messages: 'How many messages came from the assistant?',
  files_created: 'How many files were created?',
  files_edited: 'How many files were edited?',
  git_commits: 'How many commits were made?',
  git_prs_created: 'How many pull requests were created?',
  mcp_calls: 'How many MCP tools were called?',
  skill_calls: 'How many skills were called?',
  slash_commands: 'How many slash commands did users enter?',
  hooks: 'How many hooks did users run?',
};

const CLIENTS: Example = {
  question: 'How many people used each client on each day?',
  by: ['date', 'client'],
  sql: 'SELECT date, client, daily_active_users AS value FROM activity_daily_by_client ORDER BY date, client',
};

const COST_PER_USER: Example = {
  question: 'What did an active user cost on each day?',
  by: ['date'],
  sql: 'SELECT date, cost / NULLIF((SELECT COUNT(*) FROM user_daily u WHERE u.org_id = c.org_id AND u.date = c.date), 0) AS value FROM cost_daily c ORDER BY date',
};

const PUBLISHED_COST: Example = {
  question: 'What did the credits of each day cost that the service publishes?',
  by: ['date'],
  sql: `SELECT t.date, t.billable_tokens * p.price_per_million / 1000000 AS value FROM tokens_daily t
LEFT JOIN prices p ON p.org_id = t.org_id AND t.date >= p.valid_from AND (p.valid_to IS NULL OR t.date <= p.valid_to)
ORDER BY t.date`,
};

const examples: Readonly<Record<string, Example>> = {
  active_users: monthly('How many people were active?', 'active_users'),
  new_users: monthly('How many people were active for the first time?', 'new_users'),
  ...Object.fromEntries(ROLLUP_SUMS.map((name) => [name, monthly(sums[name], name)])),
  language_users: parts('How many people worked in each language?', 'language', [
    'language',
    'COUNT(DISTINCT user_id)',
    'user_daily_languages',
  ]),
  sessions_per_active_user: monthly(
    'How many sessions did an active user start?',
    'sessions / NULLIF(active_users, 0)',
  ),
  tokens_per_commit: monthly(
    'How many credits did a commit take?',
    'billable_tokens / NULLIF(git_commits, 0)',
  ),
  tokens_per_pr: monthly(
    'How many credits did a pull request take?',
    'billable_tokens / NULLIF(git_prs_created, 0)',
  ),
  tool_calls_per_user_message: monthly(
    'How many tool calls followed a message from a user?',
    'tool_calls / NULLIF(user_messages, 0)',
  ),
  files_per_session: monthly(
    'How many files did a session change?',
    '(files_created + files_edited) / NULLIF(sessions, 0)',
  ),
  thinking_share: monthly(
    'Which share of the credits went to thinking models?',
    'thinking_tokens / NULLIF(billable_tokens, 0)',
  ),
  cost: daily('What did each day cost?', 'cost', 'cost_daily'),
  cost_per_active_user: COST_PER_USER,
  licensed_users: monthly('How many people had a licence?', 'licensed_users', 'monthly_overview'),
  inactive_users: monthly('How many licensed people were not active?', 'inactive_users', 'monthly_overview'),
  readiness_score: total('How ready for agents are the repositories?', 'AVG(score)', 'readiness_latest'),
  published_billable_tokens: monthly(
    'How many credits did the service publish?',
    'billable_tokens',
    'monthly_overview',
  ),
  published_cost: PUBLISHED_COST,
  input_tokens: monthly('How many raw input tokens were there?', 'input_tokens', 'monthly_overview'),
  output_tokens: monthly('How many output tokens were there?', 'output_tokens', 'monthly_overview'),
  cache_read_tokens: total(
    'How many tokens were read from the cache in total?',
    'SUM(cache_read_tokens)',
    'tokens_daily',
  ),
  cache_write_tokens: total(
    'How many tokens were written to the cache in total?',
    'SUM(cache_write_tokens)',
    'tokens_daily',
  ),
  cache_share: total(
    'Which share of the input came from the cache?',
    'SUM(cache_read_tokens) / NULLIF(SUM(cache_read_tokens + input_tokens), 0)',
    'tokens_daily',
  ),
  published_dau: daily('How many people were active on each day?', 'daily_active_users', 'activity_daily'),
  published_wau: daily('How many in the 7 days up to each day?', 'weekly_active_users', 'activity_daily'),
  published_mau: daily('How many in the 30 days up to each day?', 'monthly_active_users', 'activity_daily'),
  published_client_dau: CLIENTS,
  published_autonomy_ratio_avg: daily(
    'How many tool calls did an average turn have?',
    'autonomy_ratio_avg',
    'tools_daily',
  ),
  published_autonomy_ratio_p50: daily(
    'How many did the median turn have?',
    'autonomy_ratio_p50',
    'tools_daily',
  ),
  published_autonomy_ratio_p90: daily(
    'How many did one turn in ten exceed?',
    'autonomy_ratio_p90',
    'tools_daily',
  ),
  published_sessions: monthly('How many sessions did the service publish?', 'sessions', 'monthly_overview'),
  published_messages: monthly('How many messages did the service publish?', 'messages', 'monthly_overview'),
  published_language_files: parts('In which languages were files written?', 'language', [
    'language',
    'SUM(count)',
    'productivity_daily_by_language',
  ]),
  tool_invocations: parts('Which tools were used?', 'tool', [
    'tool',
    'SUM(invocations)',
    'tools_daily_by_tool',
  ]),
  mcp_invocations: parts('Which MCP servers were used?', 'server', [
    'server',
    'SUM(invocations)',
    'tools_daily_by_mcp_server',
  ]),
  skill_invocations: parts('Which skills were used?', 'skill', [
    'name',
    'SUM(count)',
    'tools_daily_by_skill',
  ]),
  slash_command_invocations: parts('Which slash commands were used?', 'slash_command', [
    'name',
    'SUM(count)',
    'tools_daily_by_slash_command',
  ]),
  hook_invocations: total('How often did hooks run?', 'SUM(count)', 'tools_daily_by_hook'),
  user_model_billable_tokens: parts('How many credits of users went to each model?', 'model', [
    'model_id',
    'SUM(billable_tokens)',
    'tokens_daily_by_user_model',
  ]),
  user_model_cost: parts('What did they cost?', 'model', [
    'model_id',
    'SUM(billable_tokens * price_per_million) / 1000000',
    'tokens_daily_by_user_model LEFT JOIN prices ON date >= valid_from AND (valid_to IS NULL OR date <= valid_to)',
  ]),
  user_model_active_users: parts('How many people used each model?', 'model', [
    'model_id',
    'COUNT(DISTINCT user_id)',
    'tokens_daily_by_user_model',
  ]),
};

/** One example for every metric. */
export const metricExamples: readonly MetricExample[] = Object.entries(examples).map(([metric, example]) => ({
  metric,
  ...example,
}));
