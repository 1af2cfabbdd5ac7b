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
  budgets: {
    id: 'budgets',
    title: 'Do the teams keep their budgets?',
    sql: `SELECT month, team, budget, currency, cost_so_far, cost_forecast, status
FROM budget_outlook ORDER BY month DESC, team LIMIT 20`,
  },
  userModels: {
    id: 'userModels',
    title: 'Teams and models of the last month',
    sql: `SELECT team, model_id, currency, SUM(billable_tokens) AS billable_tokens, SUM(cost) AS cost
FROM usage_by_user_model WHERE date >= (SELECT MIN(date) FROM dates WHERE month = (SELECT MAX(month) FROM org_monthly)) GROUP BY team, model_id, currency ORDER BY team, model_id`,
  },
  cohorts: {
    id: 'cohorts',
    title: 'Who stays? Users by the month of their first activity',
    sql: `SELECT cohort, month, people, size, people * 1.0 / size AS share
FROM cohorts_monthly ORDER BY cohort, month`,
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
