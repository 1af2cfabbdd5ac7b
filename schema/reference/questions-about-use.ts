import {
  inBoth,
  largest,
  MONTH,
  MONTH_OF_DAY,
  monthly,
  priced,
  type Question,
  THIS_MONTH,
  WEEKS_BEFORE,
  WITH_PRICE,
  withTeam,
} from './question.ts';

/** Questions about cost, models, tools, repositories and the data themselves. */
export const questionsAboutUse: readonly Question[] = [
  {
    id: 'costSoFar',
    title: 'What has this month cost, against the same days of the month before?',
    ask: { metric: 'cost', from: MONTH, compare: 'calendar' },
    sql: `SELECT ${priced("SUM(CASE WHEN date >= '2026-11-01' THEN billable_tokens * price_per_million ELSE 0 END) / 1000000")} AS value,
  ${priced("SUM(CASE WHEN date <= '2026-10-19' THEN billable_tokens * price_per_million ELSE 0 END) / 1000000")} AS before
FROM user_daily r
${WITH_PRICE}
WHERE ${THIS_MONTH} OR date BETWEEN '2026-10-01' AND '2026-10-19'`,
    note: '`daywalk metric causes` with the same days says why it has changed.',
    isFromRollup: true,
  },
  {
    id: 'forecast',
    title: 'What will this month have cost at its end?',
    sql: `SELECT team, currency, cost_so_far, cost_forecast, tokens_so_far, tokens_forecast
FROM month_forecast
WHERE month = (SELECT MAX(month) FROM month_forecast)
ORDER BY team`,
    note: '`daywalk budget check` compares the forecast with budgets.',
  },
  {
    id: 'changedTeams',
    title: 'Which teams have changed their cost most?',
    ask: { metric: 'cost', by: ['team'], from: MONTH, compare: 'previous', top: 5, order: 'change' },
    sql: `SELECT team, value, before FROM (
SELECT team, ${inBoth('billable_tokens * price_per_million / 1000000', priced)}
FROM ${withTeam('user_daily')}
${WITH_PRICE}
WHERE ${THIS_MONTH} OR ${WEEKS_BEFORE}
GROUP BY team
) sums
ORDER BY ABS(value - before) DESC NULLS LAST
LIMIT 5`,
    note: 'Ordered by the amount of the change, whatever its sign.',
  },
  {
    id: 'costPerUser',
    title: 'What does an active user of each team cost?',
    ask: { metric: 'cost_per_active_user', by: ['team'], from: MONTH, order: 'value' },
    sql: `SELECT team, ${priced('SUM(billable_tokens * price_per_million) / 1000000 / COUNT(DISTINCT r.user_id)')} AS value
FROM ${withTeam('user_daily')}
${WITH_PRICE}
WHERE ${THIS_MONTH}
GROUP BY team
ORDER BY value DESC NULLS LAST`,
  },
  {
    id: 'expensiveModels',
    title: 'Which models cost most this month, and what did they cost four weeks before?',
    ask: { metric: 'published_cost', by: ['model'], from: MONTH, compare: 'previous', top: 5 },
    sql: `SELECT model_id AS model, ${inBoth('billable_tokens * price_per_million / 1000000', priced)}
FROM tokens_daily_by_model r
${WITH_PRICE}
WHERE ${THIS_MONTH} OR ${WEEKS_BEFORE}
GROUP BY model_id
ORDER BY value DESC NULLS LAST
LIMIT 5`,
  },
  {
    id: 'modelMix',
    title: 'Which models are used in each month?',
    ask: { metric: 'published_billable_tokens', by: ['month', 'model'], from: '2026-10-01' },
    sql: `SELECT ${MONTH_OF_DAY} AS month, model_id AS model, SUM(billable_tokens) AS value
FROM tokens_daily_by_model
WHERE date >= '2026-10-01'
GROUP BY ${MONTH_OF_DAY}, model_id
ORDER BY month, model`,
  },
  {
    id: 'modelsOfTeams',
    title: 'Which teams spend most on which models?',
    ask: { metric: 'user_model_cost', by: ['team', 'model'], from: MONTH, top: 10 },
    sql: `SELECT team, model_id AS model, ${priced('SUM(billable_tokens * price_per_million) / 1000000')} AS value
FROM ${withTeam('tokens_daily_by_user_model')}
${WITH_PRICE}
WHERE ${THIS_MONTH}
GROUP BY team, model_id
ORDER BY value DESC NULLS LAST
LIMIT 10`,
  },
  {
    id: 'creditsPerResult',
    title: 'How many credits does a commit take?',
    ask: { metric: 'tokens_per_commit', by: ['month'] },
    sql: monthly('billable_tokens / NULLIF(git_commits, 0)'),
    isFromRollup: true,
  },
  {
    id: 'creditsPerPullRequest',
    title: 'How many credits does a pull request take?',
    ask: { metric: 'tokens_per_pr', by: ['month'] },
    sql: monthly('billable_tokens / NULLIF(git_prs_created, 0)'),
    isFromRollup: true,
  },
  {
    id: 'cacheShare',
    title: 'Which share of the input comes from the cache?',
    ask: { metric: 'cache_share', by: ['month'] },
    sql: `SELECT ${MONTH_OF_DAY} AS month,
  SUM(cache_read_tokens) * 1.0 / NULLIF(SUM(cache_read_tokens) + SUM(input_tokens), 0) AS value
FROM tokens_daily
GROUP BY ${MONTH_OF_DAY}
ORDER BY month`,
  },
  {
    id: 'mcpServers',
    title: 'Which MCP servers are used, over time?',
    ask: { metric: 'mcp_invocations', by: ['month', 'server'], from: '2026-10-01' },
    sql: `SELECT ${MONTH_OF_DAY} AS month, server, SUM(invocations) AS value
FROM tools_daily_by_mcp_server
WHERE date >= '2026-10-01'
GROUP BY ${MONTH_OF_DAY}, server
ORDER BY month, server`,
  },
  {
    id: 'tools',
    title: 'Which tools are called most?',
    ask: { metric: 'tool_invocations', by: ['tool'], from: MONTH, top: 10 },
    sql: `SELECT tool, SUM(invocations) AS value
FROM tools_daily_by_tool
WHERE ${THIS_MONTH}
GROUP BY tool
ORDER BY value DESC NULLS LAST, tool
LIMIT 10`,
  },
  {
    id: 'skills',
    title: 'Which skills are used most?',
    ask: { metric: 'skill_invocations', by: ['skill'], top: 10 },
    sql: `${largest('name', 'skill', 'SUM(count)', 'tools_daily_by_skill')}
LIMIT 10`,
  },
  {
    id: 'slashCommands',
    title: 'Which slash commands are used most?',
    ask: { metric: 'slash_command_invocations', by: ['slash_command'], top: 10 },
    sql: `${largest('name', 'slash_command', 'SUM(count)', 'tools_daily_by_slash_command')}
LIMIT 10`,
  },
  {
    id: 'hooks',
    title: 'Which hooks run?',
    ask: { metric: 'hook_invocations', by: ['hook'] },
    sql: `SELECT event || CASE WHEN matcher <> '' THEN ' / ' || matcher ELSE '' END
  || CASE WHEN command <> '' THEN ' / ' || command ELSE '' END AS hook, SUM(count) AS value
FROM tools_daily_by_hook
GROUP BY event, matcher, command
ORDER BY hook`,
  },
  {
    id: 'publishedLanguages',
    title: 'In which languages are most files written?',
    ask: { metric: 'published_language_files', by: ['language'], from: MONTH, top: 10 },
    sql: `SELECT language, SUM(count) AS value
FROM productivity_daily_by_language
WHERE ${THIS_MONTH}
GROUP BY language
ORDER BY value DESC NULLS LAST, language
LIMIT 10`,
  },
  {
    id: 'autonomy',
    title: 'How many tool calls does a turn take, day by day?',
    ask: { metric: 'published_autonomy_ratio_p50', by: ['date'], from: '2026-11-09' },
    sql: `SELECT date, autonomy_ratio_p50 AS value
FROM tools_daily
WHERE date >= '2026-11-09'
ORDER BY date`,
    note: 'The median of each day as the service publishes it. Medians of several days have no mean.',
  },
  {
    id: 'readiness',
    title: 'How ready for agents are the repositories?',
    ask: { metric: 'readiness_score', by: ['repository'], order: 'value' },
    sql: `SELECT repo_url AS repository, score AS value
FROM readiness_latest
WHERE score IS NOT NULL
ORDER BY value DESC NULLS LAST, repository`,
    note: '`--by month` shows whether they improve; the view `readiness_history` has each report.',
  },
  {
    id: 'failingCriteria',
    title: 'Which criteria fail in most repositories?',
    sql: `SELECT criterion_id, COUNT(*) AS repositories
FROM failing_criteria
GROUP BY criterion_id
ORDER BY repositories DESC, criterion_id`,
  },
  {
    id: 'restated',
    title: 'Which days did the service restate, and by how much?',
    sql: `SELECT date, stream, table_name, column_name, value_before, value_after, change
FROM restated_days
ORDER BY detected_at DESC, date, stream, table_name, column_name
LIMIT 20`,
  },
  {
    id: 'holes',
    title: 'Which days are missing?',
    ask: { command: 'daywalk status', rows: 'organizations.0.missing' },
    sql: `SELECT stream, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days
FROM coverage
WHERE is_expected AND state IN ('pending', 'failed') AND rows = 0 AND date <= (SELECT MAX(date) FROM daily_overview)
GROUP BY stream
ORDER BY stream`,
    note: 'Each answer of `daywalk metric` also names the missing days of its own period.',
  },
  {
    id: 'messagesByMonth',
    title: 'How many messages do people exchange with the assistant in each month?',
    ask: { metric: 'messages', by: ['month'] },
    sql: monthly('messages'),
    isFromRollup: true,
  },
  {
    id: 'commitsByTeam',
    title: 'Which teams commit most this month?',
    ask: { metric: 'git_commits', by: ['team'], from: MONTH, order: 'value' },
    sql: `SELECT t.team, SUM(git_commits) AS value
FROM ${withTeam('user_daily')}
WHERE ${THIS_MONTH}
GROUP BY t.team
ORDER BY value DESC NULLS LAST, t.team`,
    isFromRollup: true,
  },
  {
    id: 'activeByTeam',
    title: 'How many people of each team are active this month?',
    ask: { metric: 'active_users', by: ['team'], from: MONTH, order: 'value' },
    sql: `SELECT t.team, COUNT(DISTINCT r.user_id) AS value
FROM ${withTeam('user_daily')}
WHERE ${THIS_MONTH}
GROUP BY t.team
ORDER BY value DESC NULLS LAST, t.team`,
    note: 'Someone who has changed the team counts once in each, and once in the total.',
    isFromRollup: true,
  },
  {
    id: 'tiers',
    title: 'Which tiers of models use most credits this month?',
    ask: { metric: 'published_billable_tokens', by: ['tier'], from: MONTH, order: 'value' },
    sql: `SELECT model_tier AS tier, SUM(billable_tokens) AS value
FROM tokens_daily_by_model
WHERE ${THIS_MONTH}
GROUP BY model_tier
ORDER BY value DESC NULLS LAST, tier`,
  },
];
