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
  languages: {
    id: 'languages',
    title: 'People by language',
    sql: `SELECT language, COUNT(DISTINCT user_id) AS people, COUNT(*) AS person_days
FROM user_daily_languages
GROUP BY language
ORDER BY people DESC, language
LIMIT 10`,
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
  holes: {
    id: 'holes',
    title: 'Missing days',
    sql: `SELECT stream, state, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days
FROM coverage
WHERE state NOT IN ('loaded', 'empty')
GROUP BY stream, state
ORDER BY stream, state`,
  },
  restated: {
    id: 'restated',
    title: 'Numbers that the service restated',
    sql: `SELECT stream, date, detected_at, "before", "after"
FROM restatements
ORDER BY detected_at DESC, stream, date
LIMIT 20`,
  },
} as const satisfies Record<string, ExampleQuery>;
