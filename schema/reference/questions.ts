import type { Dimension } from '../metrics/define.ts';

/** A question that a metric answers, as `daywalk metric NAME --by … --from …` asks it. */
export interface MetricCall {
  readonly metric: string;
  readonly by: readonly Dimension[];
  /** First day. @default all days */
  readonly from?: string;
}

/** A question that analysts ask, and the one metric call or the one SELECT that answers it. */
export interface Question {
  readonly id: string;
  readonly title: string;
  readonly ask: MetricCall | { readonly sql: string };
  /** What to know about the answer. */
  readonly note?: string;
  /** True if the answer can be read from a rollup, so that it takes no time even over a long history. */
  readonly isFromRollup: boolean;
}

/** True if a metric answers the question. */
export function isMetricCall(ask: Question['ask']): ask is MetricCall {
  return 'metric' in ask;
}

/** The flags of `daywalk` for a call. */
export function commandOf({ metric, by, from }: MetricCall): string {
  return [
    `daywalk metric ${metric}`,
    ...(by.length > 0 ? [`--by ${by.join(',')}`] : []),
    ...(from === undefined ? [] : [`--from ${from}`]),
  ].join(' ');
}

const TOP_TEN = `SELECT user_id, MAX(user_email) AS user_email,
  SUM(CASE WHEN month = (SELECT MAX(month) FROM org_monthly) THEN billable_tokens END) AS this_month,
  SUM(CASE WHEN month < (SELECT MAX(month) FROM org_monthly) THEN billable_tokens END) AS last_month
FROM user_monthly
WHERE month IN (SELECT DISTINCT month FROM org_monthly ORDER BY month DESC LIMIT 2)
GROUP BY org_id, user_id
ORDER BY COALESCE(SUM(CASE WHEN month = (SELECT MAX(month) FROM org_monthly) THEN billable_tokens END), 0) DESC, user_id
LIMIT 10`;

const SKILLS_AND_COMMANDS = `SELECT 'skill' AS kind, name, SUM(count) AS invocations FROM tools_daily_by_skill GROUP BY name
UNION ALL
SELECT 'slash command', name, SUM(count) FROM tools_daily_by_slash_command GROUP BY name
ORDER BY kind, invocations DESC, name`;

const HOLES = `SELECT stream, state, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days
FROM coverage
WHERE is_expected AND state NOT IN ('loaded', 'empty') AND date <= (SELECT MAX(date) FROM daily_overview)
GROUP BY stream, state
ORDER BY stream, state`;

/** The questions of docs/questions.md, in its order. Each is equal on both databases. */
export const questions: readonly Question[] = [
  {
    id: 'activeUsers',
    title: 'How many people are active in a week?',
    ask: { metric: 'active_users', by: ['week'], from: '2026-09-01' },
    note: 'The first and the last week count only the days in the period.',
    isFromRollup: true,
  },
  {
    id: 'funnel',
    title: 'How many people have a licence, and how many of them use it?',
    ask: {
      sql: `SELECT month, licensed_users, licensed_users - inactive_users AS active_licensed, inactive_users, active_users, new_users
FROM monthly_overview
ORDER BY month`,
    },
    note: '`active_users` also counts users who are not in `people`.',
    isFromRollup: true,
  },
  {
    id: 'topUsers',
    title: 'Who uses most credits this month, and how many did they use last month?',
    ask: { sql: TOP_TEN },
    note: 'The current month is not over, so it usually has fewer credits.',
    isFromRollup: true,
  },
  {
    id: 'creditsPerResult',
    title: 'How many credits does a commit take, and a pull request?',
    ask: {
      sql: `SELECT month, billable_tokens / NULLIF(git_commits, 0) AS credits_per_commit,
  billable_tokens / NULLIF(git_prs_created, 0) AS credits_per_pr
FROM org_monthly
ORDER BY month`,
    },
    note: '`daywalk metric tokens_per_commit` and `tokens_per_pr` give the same numbers by team or user.',
    isFromRollup: true,
  },
  {
    id: 'modelMix',
    title: 'Which models are used in each week?',
    ask: { metric: 'published_billable_tokens', by: ['week', 'model'], from: '2026-11-01' },
    isFromRollup: false,
  },
  {
    id: 'thinkingShare',
    title: 'Which share of the credits of each user goes to thinking models?',
    ask: {
      sql: `SELECT user_email, team, billable_tokens, thinking_share
FROM thinking_share_by_user
WHERE thinking_share IS NOT NULL
ORDER BY thinking_share DESC, billable_tokens DESC, user_id
LIMIT 10`,
    },
    isFromRollup: true,
  },
  {
    id: 'delegation',
    title: 'How far do people delegate, over time?',
    ask: { metric: 'active_users', by: ['month', 'delegation_level'] },
    note: 'Someone with several levels in a month counts once in each.',
    isFromRollup: false,
  },
  {
    id: 'delegationByTeam',
    title: 'How far does each team delegate?',
    ask: { metric: 'active_users', by: ['team', 'delegation_level'] },
    isFromRollup: false,
  },
  {
    id: 'mcpServers',
    title: 'Which MCP servers are used, over time?',
    ask: { metric: 'mcp_invocations', by: ['month', 'server'], from: '2026-10-01' },
    isFromRollup: false,
  },
  {
    id: 'skillsAndCommands',
    title: 'Which skills and slash commands are used?',
    ask: { sql: SKILLS_AND_COMMANDS },
    isFromRollup: false,
  },
  {
    id: 'hooks',
    title: 'Which hooks run?',
    ask: { metric: 'hook_invocations', by: ['hook'] },
    isFromRollup: false,
  },
  {
    id: 'languages',
    title: 'In which languages does each team work?',
    ask: { metric: 'language_users', by: ['team', 'language'] },
    isFromRollup: true,
  },
  {
    id: 'filesPerSession',
    title: 'How many files does a session change?',
    ask: { metric: 'files_per_session', by: ['month'] },
    isFromRollup: true,
  },
  {
    id: 'inactive',
    title: 'Who was not active for 30 days?',
    ask: {
      sql: `SELECT person, team, user_email, last_active_on, days_inactive, is_licensed
FROM inactive_users
ORDER BY COALESCE(days_inactive, 9999) DESC, person`,
    },
    isFromRollup: true,
  },
  {
    id: 'readiness',
    title: 'How ready for agents are the repositories, and do they improve?',
    ask: {
      sql: `SELECT repo_url, created_at, score, previous_score, score_change
FROM readiness_history
WHERE score IS NOT NULL
ORDER BY repo_url, created_at DESC, report_id`,
    },
    note: '`daywalk metric readiness_score --by month` is the mean over all repositories.',
    isFromRollup: false,
  },
  {
    id: 'failingCriteria',
    title: 'Which criteria fail in most repositories?',
    ask: {
      sql: `SELECT criterion_id, COUNT(*) AS repositories
FROM failing_criteria
GROUP BY criterion_id
ORDER BY repositories DESC, criterion_id`,
    },
    isFromRollup: false,
  },
  {
    id: 'sessionsPerUser',
    title: 'How many sessions does an active user start?',
    ask: { metric: 'sessions_per_active_user', by: ['week'], from: '2026-09-01' },
    isFromRollup: true,
  },
  {
    id: 'restated',
    title: 'Which days did the service restate, and by how much?',
    ask: {
      sql: `SELECT date, stream, table_name, column_name, value_before, value_after, change
FROM restated_days
ORDER BY detected_at DESC, date, stream, table_name, column_name
LIMIT 20`,
    },
    isFromRollup: false,
  },
  {
    id: 'holes',
    title: 'Which days are missing?',
    ask: { sql: HOLES },
    note: 'Without the condition on `date`, the answer also has the days since the last run.',
    isFromRollup: false,
  },
  {
    id: 'forecast',
    title: 'What will this month have cost at its end?',
    ask: {
      sql: `SELECT team, currency, cost_so_far, cost_forecast, tokens_so_far, tokens_forecast
FROM month_forecast
WHERE month = (SELECT MAX(month) FROM month_forecast)
ORDER BY team`,
    },
    isFromRollup: false,
  },
];
