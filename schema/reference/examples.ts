import type { Dimension } from '../metrics/define.ts';
import { ROLLUP_SUMS } from '../tables/rollups.ts';

/** An example query. It returns the same rows in the same order in SQLite and PostgreSQL, because it never sorts by NULL. */
export interface ExampleQuery {
  readonly id: string;
  /** The question that the query answers. */
  readonly title: string;
  readonly sql: string;
}

/** Example queries, for the documentation and for the demo. */
export const exampleQueries = {
  lastDays: {
    id: 'lastDays',
    title: 'The last seven days',
    sql: `SELECT date, daily_active_users AS active_users, sessions, messages, git_commits, billable_tokens
FROM daily_overview
ORDER BY date DESC
LIMIT 7`,
  },
  weeks: {
    id: 'weeks',
    title: 'The last weeks, and whether they are complete',
    sql: `SELECT week_start, active_users, sessions, billable_tokens, days_held, days_expected, is_settled
FROM weekly_overview
ORDER BY week_start DESC
LIMIT 8`,
  },
  funnel: {
    id: 'funnel',
    title: 'People with a licence, and those of them who use it',
    sql: `SELECT month, licensed_users, inactive_users, active_users, new_users
FROM monthly_overview
ORDER BY month DESC`,
  },
  modelMix: {
    id: 'modelMix',
    title: 'Credits by model',
    sql: `SELECT model_id, model_tier, SUM(billable_tokens) AS billable_tokens,
  ROUND(CAST(100.0 * SUM(billable_tokens) / NULLIF(SUM(SUM(billable_tokens)) OVER (), 0) AS numeric), 1) AS percent
FROM model_mix
GROUP BY model_id, model_tier
ORDER BY COALESCE(SUM(billable_tokens), 0) DESC, model_id
LIMIT 8`,
  },
  topUsers: {
    id: 'topUsers',
    title: 'Top users by credits',
    sql: `SELECT user_email, active_days, sessions, billable_tokens
FROM users
ORDER BY COALESCE(billable_tokens, 0) DESC, user_id
LIMIT 5`,
  },
  thinkingShare: {
    id: 'thinkingShare',
    title: 'Users with the largest share of thinking models',
    sql: `SELECT user_email, team, billable_tokens, thinking_share
FROM thinking_share_by_user
ORDER BY COALESCE(thinking_share, 0) DESC, user_id
LIMIT 10`,
  },
  inactive: {
    id: 'inactive',
    title: 'People without activity for 30 days',
    sql: `SELECT person, team, last_active_on, days_inactive, is_licensed
FROM inactive_users
ORDER BY COALESCE(days_inactive, 9999) DESC, person
LIMIT 20`,
  },
  languages: {
    id: 'languages',
    title: 'People by language',
    sql: `SELECT language, COUNT(DISTINCT user_id) AS people, COUNT(*) AS person_days
FROM user_daily_languages
GROUP BY language
ORDER BY people DESC, language
LIMIT 10`,
  },
  costs: {
    id: 'costs',
    title: 'The cost of the last days',
    sql: `SELECT date, currency, billable_tokens, cost
FROM cost_daily
ORDER BY date DESC
LIMIT 7`,
  },
  costsByTeam: {
    id: 'costsByTeam',
    title: 'The cost of each team by month',
    sql: `SELECT month, team, currency, billable_tokens, cost
FROM cost_monthly_by_team
ORDER BY month, team`,
  },
  forecast: {
    id: 'forecast',
    title: 'The expected cost of the month',
    sql: `SELECT team, currency, cost_so_far, cost_forecast
FROM month_forecast
WHERE month = (SELECT MAX(month) FROM month_forecast)
ORDER BY team`,
  },
  readiness: {
    id: 'readiness',
    title: 'Repositories that are least ready for agents',
    sql: `SELECT repo_url, created_at, criteria_passed, criteria_evaluated, score
FROM readiness_latest
WHERE score IS NOT NULL
ORDER BY score, repo_url
LIMIT 10`,
  },
  readinessTrend: {
    id: 'readinessTrend',
    title: 'Readiness over time',
    sql: `SELECT repo_url, created_at, score, score_change
FROM readiness_history
WHERE score IS NOT NULL
ORDER BY repo_url, created_at, report_id`,
  },
  failingCriteria: {
    id: 'failingCriteria',
    title: 'Criteria that fail in most repositories',
    sql: `SELECT criterion_id, COUNT(*) AS repositories
FROM failing_criteria
GROUP BY criterion_id
ORDER BY repositories DESC, criterion_id`,
  },
  holes: {
    id: 'holes',
    title: 'Missing days',
    sql: `SELECT stream, state, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days
FROM coverage
WHERE is_expected AND state NOT IN ('loaded', 'empty')
GROUP BY stream, state
ORDER BY stream, state`,
  },
  restated: {
    id: 'restated',
    title: 'Numbers that the service restated',
    sql: `SELECT date, stream, table_name, column_name, value_before, value_after, change
FROM restated_days
ORDER BY detected_at DESC, date, stream, table_name, column_name
LIMIT 20`,
  },
  today: {
    id: 'today',
    title: 'Activity since the last exported day, from hook events',
    sql: `SELECT since, sessions, stops, notifications, last_event_at
FROM today_so_far
ORDER BY org_id`,
  },
} as const satisfies Record<string, ExampleQuery>;

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
