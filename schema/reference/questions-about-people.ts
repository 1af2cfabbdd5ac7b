import {
  inBoth,
  MONTH,
  MONTH_OF_DAY,
  monthly,
  type Question,
  THIS_MONTH,
  WEEKS_BEFORE,
  withTeam,
} from './question.ts';

/** Questions about who uses the platform, and how. */
export const questionsAboutPeople: readonly Question[] = [
  {
    id: 'activeUsers',
    title: 'How many people are active in a week?',
    ask: { metric: 'active_users', by: ['week'], from: '2026-08-31' },
    sql: `SELECT week_start AS week, active_users AS value FROM weekly_overview
WHERE week_start >= '2026-08-31'
ORDER BY week`,
    note: 'The first and the last week count only the days in the period.',
    isFromRollup: true,
  },
  {
    id: 'funnel',
    title: 'How many people have a licence and do not use it?',
    ask: { metric: 'inactive_users', by: ['month'] },
    sql: monthly('inactive_users', 'monthly_overview'),
    note: '`licensed_users` counts everybody with a licence.',
    isFromRollup: true,
  },
  {
    id: 'seats',
    title: 'How many people have a licence in each team?',
    ask: { metric: 'licensed_users', by: ['team'], top: 5 },
    sql: `SELECT team, COUNT(*) AS value
FROM people
WHERE valid_from <= '2026-11-19' AND (valid_to IS NULL OR valid_to >= '2026-11-19')
GROUP BY team
ORDER BY value DESC NULLS LAST, team
LIMIT 5`,
    isFromRollup: true,
  },
  {
    id: 'newUsers',
    title: 'How many people begin in each month?',
    ask: { metric: 'new_users', by: ['month'] },
    sql: monthly('new_users'),
    isFromRollup: true,
  },
  {
    id: 'cohorts',
    title: 'How many of those who began in a month are still active?',
    ask: { metric: 'active_users', cohort: true },
    sql: `SELECT f.cohort, m.month, COUNT(*) AS value, MAX(s.size) AS size
FROM user_monthly m
JOIN (SELECT user_id, MIN(month) AS cohort FROM user_monthly GROUP BY user_id) f ON f.user_id = m.user_id
JOIN (
  SELECT cohort, COUNT(*) AS size
  FROM (SELECT user_id, MIN(month) AS cohort FROM user_monthly GROUP BY user_id) firsts
  GROUP BY cohort
) s ON s.cohort = f.cohort
GROUP BY f.cohort, m.month
ORDER BY f.cohort, m.month`,
    note: '`size` is the number of those who began in the month `cohort`.',
    isFromRollup: true,
  },
  {
    id: 'sessionsPerUser',
    title: 'How many sessions does an active user start?',
    ask: { metric: 'sessions_per_active_user', by: ['week'], from: '2026-08-31' },
    sql: `SELECT week_start AS week, SUM(sessions) * 1.0 / COUNT(*) AS value
FROM user_weekly
WHERE week_start >= '2026-08-31'
GROUP BY week_start
ORDER BY week`,
    isFromRollup: true,
  },
  {
    id: 'busiestDays',
    title: 'On which days were most people active?',
    ask: { metric: 'published_dau', by: ['date'], from: MONTH, top: 5 },
    sql: `SELECT date, daily_active_users AS value
FROM activity_daily
WHERE ${THIS_MONTH}
ORDER BY value DESC NULLS LAST, date
LIMIT 5`,
    note: 'People of several days are not added: ask for `active_users`.',
  },
  {
    id: 'clients',
    title: 'With which clients do people work?',
    ask: {
      metric: 'published_client_dau',
      by: ['client'],
      from: '2026-11-18',
      until: '2026-11-18',
      order: 'value',
    },
    sql: `SELECT client, daily_active_users AS value
FROM activity_daily_by_client
WHERE date = '2026-11-18'
ORDER BY value DESC NULLS LAST, client`,
    note: 'Someone with several clients counts once in each, so that there is no total.',
  },
  {
    id: 'delegation',
    title: 'How far do people delegate, over time?',
    ask: { metric: 'active_users', by: ['month', 'delegation_level'] },
    sql: `SELECT ${MONTH_OF_DAY} AS month, delegation_level, COUNT(DISTINCT user_id) AS value
FROM user_daily
GROUP BY ${MONTH_OF_DAY}, delegation_level
ORDER BY month, delegation_level IS NULL, delegation_level`,
    note: 'Someone with several levels in a month counts once in each.',
  },
  {
    id: 'delegationByTeam',
    title: 'How far does each team delegate?',
    ask: { metric: 'active_users', by: ['team', 'delegation_level'] },
    sql: `SELECT t.team, r.delegation_level, COUNT(DISTINCT r.user_id) AS value
FROM ${withTeam('user_daily')}
GROUP BY t.team, r.delegation_level
ORDER BY t.team IS NULL, t.team, r.delegation_level IS NULL, r.delegation_level`,
  },
  {
    id: 'languages',
    title: 'In which languages does each team work?',
    ask: { metric: 'language_users', by: ['team', 'language'] },
    sql: `SELECT t.team, r.language, COUNT(DISTINCT r.user_id) AS value
FROM ${withTeam('user_daily_languages')}
GROUP BY t.team, r.language
ORDER BY t.team IS NULL, t.team, r.language`,
    isFromRollup: true,
  },
  {
    id: 'inactive',
    title: 'Who was not active for 30 days?',
    sql: `SELECT person, team, user_email, last_active_on, days_inactive, is_licensed
FROM inactive_users
ORDER BY COALESCE(days_inactive, 9999) DESC, person`,
    note: '`daywalk metric inactive_users --by team --from 2026-10-21` counts those with a licence in each team.',
    isFromRollup: true,
  },
  {
    id: 'topUsers',
    title: 'Who uses most credits this month, and how many did they use four weeks before?',
    ask: { metric: 'billable_tokens', by: ['user'], from: MONTH, compare: 'previous', top: 10 },
    sql: `SELECT user_id AS "user", ${inBoth('billable_tokens')}
FROM user_daily
WHERE ${THIS_MONTH} OR ${WEEKS_BEFORE}
GROUP BY user_id
ORDER BY value DESC NULLS LAST, user_id
LIMIT 10`,
    note: '`change` is relative to `before`, which has the same weekdays.',
    isFromRollup: true,
  },
  {
    id: 'thinkingShare',
    title: 'Who spends the largest share of credits on days with a thinking model?',
    ask: { metric: 'thinking_share', by: ['user'], top: 10 },
    sql: `SELECT user_id AS "user",
  SUM(CASE WHEN primary_model_tier = 'thinking' THEN billable_tokens ELSE 0 END) * 1.0 / SUM(billable_tokens) AS value
FROM user_daily
GROUP BY user_id
HAVING SUM(billable_tokens) > 0
ORDER BY value DESC NULLS LAST, user_id
LIMIT 10`,
    note: 'The others and the total are computed from the credits of all their rows, not from the shares.',
    isFromRollup: true,
  },
  {
    id: 'usersOfModel',
    title: 'Who uses a model most?',
    ask: {
      metric: 'user_model_billable_tokens',
      by: ['user'],
      from: MONTH,
      filter: { model: 'atlas-4-thinking' },
      top: 10,
    },
    sql: `SELECT user_id AS "user", SUM(billable_tokens) AS value
FROM tokens_daily_by_user_model
WHERE ${THIS_MONTH} AND model_id = 'atlas-4-thinking'
GROUP BY user_id
ORDER BY value DESC NULLS LAST, user_id
LIMIT 10`,
  },
  {
    id: 'teamMembers',
    title: 'Who of a team starts most sessions?',
    ask: { metric: 'sessions', by: ['user'], from: MONTH, filter: { team: 'platform' }, top: 5 },
    sql: `SELECT r.user_id AS "user", SUM(sessions) AS value
FROM ${withTeam('user_daily')}
WHERE ${THIS_MONTH} AND t.team = 'platform'
GROUP BY r.user_id
ORDER BY value DESC NULLS LAST, r.user_id
LIMIT 5`,
    isFromRollup: true,
  },
  {
    id: 'filesPerSession',
    title: 'How many files does a session change?',
    ask: { metric: 'files_per_session', by: ['month'] },
    sql: monthly('(files_created + files_edited) * 1.0 / NULLIF(sessions, 0)'),
    isFromRollup: true,
  },
  {
    id: 'pullRequests',
    title: 'Which teams created most pull requests last month?',
    ask: { metric: 'git_prs_created', by: ['team'], filter: { month: '2026-10' }, order: 'value' },
    sql: `SELECT t.team, SUM(git_prs_created) AS value
FROM ${withTeam('user_daily')}
WHERE date BETWEEN '2026-10-01' AND '2026-10-31'
GROUP BY t.team
ORDER BY value DESC NULLS LAST, t.team`,
    isFromRollup: true,
  },
  {
    id: 'toolCalls',
    title: 'In which teams does the assistant call most tools for each message?',
    ask: { metric: 'tool_calls_per_user_message', by: ['team'], from: MONTH, top: 3 },
    sql: `SELECT t.team, SUM(tool_calls) * 1.0 / NULLIF(SUM(user_messages), 0) AS value
FROM ${withTeam('user_daily')}
WHERE ${THIS_MONTH}
GROUP BY t.team
ORDER BY value DESC NULLS LAST
LIMIT 3`,
    isFromRollup: true,
  },
];
