DROP VIEW `daily_overview`;--> statement-breakpoint
DROP VIEW `weekly_overview`;--> statement-breakpoint
DROP VIEW `monthly_overview`;--> statement-breakpoint
DROP VIEW `coverage`;--> statement-breakpoint
CREATE TABLE `contracts` (
	`org_id` text PRIMARY KEY NOT NULL,
	`first_day` text NOT NULL,
	`streams` text NOT NULL,
	`max_age_seconds` integer NOT NULL,
	`changed_at` text NOT NULL
);
--> statement-breakpoint
CREATE VIEW `daily_overview` AS SELECT d.org_id, d.date,
  t.billable_tokens, t.input_tokens, t.output_tokens,
  a.daily_active_users, a.weekly_active_users, a.monthly_active_users,
  a.sessions, a.messages, a.user_messages,
  o.tool_calls, o.skills_invocations, o.slash_commands_invocations, o.hooks_invocations,
  p.files_created, p.files_edited, p.git_commits, p.git_prs_created,
  CAST((SELECT COUNT(*) FROM user_daily u WHERE u.org_id = d.org_id AND u.date = d.date) AS INTEGER) AS users,
  CAST(d.streams_held AS INTEGER) AS streams_held,
  CAST(d.is_settled AS INTEGER) AS is_settled
FROM (
  SELECT u.org_id, date,
    SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) AS streams_held,
    CASE WHEN SUM(CASE WHEN settled_at IS NOT NULL AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_settled
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
) d
LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date;--> statement-breakpoint
CREATE VIEW `weekly_overview` AS WITH days AS (
  SELECT u.org_id, date AS date,
    CASE WHEN SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (state IN ('loaded', 'empty', 'quarantined', 'doubted') OR rows > 0) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN SUM(CASE WHEN settled_at IS NOT NULL AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_settled
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
), numbers AS (
  SELECT d.org_id, date(d.date, 'weekday 0', '-6 days') AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
    MAX(d.has_users) AS has_users,
    SUM(t.billable_tokens) AS billable_tokens,
    SUM(t.input_tokens) AS input_tokens,
    SUM(t.output_tokens) AS output_tokens,
    SUM(a.sessions) AS sessions,
    SUM(a.messages) AS messages,
    SUM(a.user_messages) AS user_messages,
    SUM(o.tool_calls) AS tool_calls,
    SUM(o.skills_invocations) AS skills_invocations,
    SUM(o.slash_commands_invocations) AS slash_commands_invocations,
    SUM(o.hooks_invocations) AS hooks_invocations,
    SUM(p.files_created) AS files_created,
    SUM(p.files_edited) AS files_edited,
    SUM(p.git_commits) AS git_commits,
    SUM(p.git_prs_created) AS git_prs_created
  FROM days d
  LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
  LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
  LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
  LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date
  GROUP BY d.org_id, date(d.date, 'weekday 0', '-6 days')
), active AS (
  SELECT org_id, week_start, COUNT(*) AS users FROM user_weekly GROUP BY org_id, week_start
), fresh AS (
  SELECT org_id, date(first_active_on, 'weekday 0', '-6 days') AS week_start, COUNT(*) AS users
  FROM users GROUP BY org_id, date(first_active_on, 'weekday 0', '-6 days')
)
SELECT n.org_id, CAST(n.period AS TEXT) AS week_start,
  CAST(CASE WHEN n.has_users = 1 THEN COALESCE(a.users, 0) END AS INTEGER) AS active_users, CAST(CASE WHEN n.has_users = 1 THEN COALESCE(f.users, 0) END AS INTEGER) AS new_users,
  CAST(n.billable_tokens AS REAL) AS billable_tokens,
  CAST(n.input_tokens AS REAL) AS input_tokens,
  CAST(n.output_tokens AS REAL) AS output_tokens,
  CAST(n.sessions AS REAL) AS sessions,
  CAST(n.messages AS REAL) AS messages,
  CAST(n.user_messages AS REAL) AS user_messages,
  CAST(n.tool_calls AS REAL) AS tool_calls,
  CAST(n.skills_invocations AS REAL) AS skills_invocations,
  CAST(n.slash_commands_invocations AS REAL) AS slash_commands_invocations,
  CAST(n.hooks_invocations AS REAL) AS hooks_invocations,
  CAST(n.files_created AS REAL) AS files_created,
  CAST(n.files_edited AS REAL) AS files_edited,
  CAST(n.git_commits AS REAL) AS git_commits,
  CAST(n.git_prs_created AS REAL) AS git_prs_created,
  CAST(CAST(julianday(date(n.period, '+6 days')) - julianday(MAX(n.period, '2026-01-14')) AS INTEGER) + 1 AS INTEGER) AS days_expected, CAST(n.days_held AS INTEGER) AS days_held,
  CAST(CASE WHEN n.days_settled = CAST(julianday(date(n.period, '+6 days')) - julianday(MAX(n.period, '2026-01-14')) AS INTEGER) + 1 THEN 1 ELSE 0 END AS INTEGER) AS is_settled
FROM numbers n
LEFT JOIN active a ON a.org_id = n.org_id AND a.week_start = n.period
LEFT JOIN fresh f ON f.org_id = n.org_id AND f.week_start = n.period;--> statement-breakpoint
CREATE VIEW `monthly_overview` AS WITH days AS (
  SELECT u.org_id, date AS date,
    CASE WHEN SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (state IN ('loaded', 'empty', 'quarantined', 'doubted') OR rows > 0) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN SUM(CASE WHEN settled_at IS NOT NULL AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_settled
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
), numbers AS (
  SELECT d.org_id, substr(d.date, 1, 7) AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
    MAX(d.has_users) AS has_users,
    SUM(t.billable_tokens) AS billable_tokens,
    SUM(t.input_tokens) AS input_tokens,
    SUM(t.output_tokens) AS output_tokens,
    SUM(a.sessions) AS sessions,
    SUM(a.messages) AS messages,
    SUM(a.user_messages) AS user_messages,
    SUM(o.tool_calls) AS tool_calls,
    SUM(o.skills_invocations) AS skills_invocations,
    SUM(o.slash_commands_invocations) AS slash_commands_invocations,
    SUM(o.hooks_invocations) AS hooks_invocations,
    SUM(p.files_created) AS files_created,
    SUM(p.files_edited) AS files_edited,
    SUM(p.git_commits) AS git_commits,
    SUM(p.git_prs_created) AS git_prs_created
  FROM days d
  LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
  LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
  LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
  LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date
  GROUP BY d.org_id, substr(d.date, 1, 7)
),
now AS (
  SELECT org_id, MAX(date) AS today
  FROM export_units WHERE stream = 'users' AND rows > 0 GROUP BY org_id
), ends AS (
  SELECT n.org_id, n.period AS month, MIN(date(n.period || '-01', '+1 month', '-1 day'), now.today) AS last_day
  FROM numbers n JOIN now ON now.org_id = n.org_id
), licensed AS (
  SELECT e.org_id, e.month, COUNT(*) AS people
  FROM ends e
  JOIN people p ON p.org_id = e.org_id AND p.valid_from <= e.last_day AND (p.valid_to IS NULL OR e.last_day <= p.valid_to)
  GROUP BY e.org_id, e.month
), busy AS (
  SELECT e.org_id, e.month, COUNT(DISTINCT t.person) AS people
  FROM ends e
  JOIN user_monthly m ON m.org_id = e.org_id AND m.month = e.month
  JOIN user_teams t ON t.org_id = m.org_id AND t.user_id = m.user_id AND e.last_day BETWEEN t.valid_from AND t.valid_to
  GROUP BY e.org_id, e.month
)
SELECT n.org_id, CAST(n.period AS TEXT) AS month,
  CAST(CASE WHEN EXISTS (SELECT 1 FROM people p WHERE p.org_id = n.org_id) THEN COALESCE(l.people, 0) END AS INTEGER) AS licensed_users,
  CAST(CASE WHEN EXISTS (SELECT 1 FROM people p WHERE p.org_id = n.org_id) THEN COALESCE(l.people, 0) - COALESCE(b.people, 0) END AS INTEGER) AS inactive_users,
  CAST(CASE WHEN n.has_users = 1 THEN COALESCE(o.active_users, 0) END AS INTEGER) AS active_users, CAST(CASE WHEN n.has_users = 1 THEN COALESCE(o.new_users, 0) END AS INTEGER) AS new_users,
  CAST(n.billable_tokens AS REAL) AS billable_tokens,
  CAST(n.input_tokens AS REAL) AS input_tokens,
  CAST(n.output_tokens AS REAL) AS output_tokens,
  CAST(n.sessions AS REAL) AS sessions,
  CAST(n.messages AS REAL) AS messages,
  CAST(n.user_messages AS REAL) AS user_messages,
  CAST(n.tool_calls AS REAL) AS tool_calls,
  CAST(n.skills_invocations AS REAL) AS skills_invocations,
  CAST(n.slash_commands_invocations AS REAL) AS slash_commands_invocations,
  CAST(n.hooks_invocations AS REAL) AS hooks_invocations,
  CAST(n.files_created AS REAL) AS files_created,
  CAST(n.files_edited AS REAL) AS files_edited,
  CAST(n.git_commits AS REAL) AS git_commits,
  CAST(n.git_prs_created AS REAL) AS git_prs_created,
  CAST(CAST(julianday(date(n.period || '-01', '+1 month', '-1 day')) - julianday(MAX(n.period || '-01', '2026-01-14')) AS INTEGER) + 1 AS INTEGER) AS days_expected, CAST(n.days_held AS INTEGER) AS days_held,
  CAST(CASE WHEN n.days_settled = CAST(julianday(date(n.period || '-01', '+1 month', '-1 day')) - julianday(MAX(n.period || '-01', '2026-01-14')) AS INTEGER) + 1 THEN 1 ELSE 0 END AS INTEGER) AS is_settled
FROM numbers n
LEFT JOIN org_monthly o ON o.org_id = n.org_id AND o.month = n.period
LEFT JOIN licensed l ON l.org_id = n.org_id AND l.month = n.period
LEFT JOIN busy b ON b.org_id = n.org_id AND b.month = n.period;--> statement-breakpoint
CREATE VIEW `coverage` AS WITH RECURSIVE calendar(date) AS (
  SELECT '2026-01-14'
  UNION ALL
  SELECT date(date, '+1 day') FROM calendar
  WHERE date < MAX(date('now', '-1 day'), (SELECT COALESCE(MAX(date), '') FROM export_units))
), streams(stream) AS (VALUES ('tokens'), ('tools'), ('activity'), ('productivity'), ('users')), terms AS (
SELECT org_id, CASE WHEN date(first_day) = first_day THEN first_day END AS first_day,
  CASE WHEN replace(',' || streams || ',', ',' || 'tokens' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'tools' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'activity' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'productivity' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'users' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'readiness' || ',', '') <> ',' || streams || ','
  THEN ',' || streams || ',' END AS streams
FROM contracts
)

SELECT o.org_id, CAST(s.stream AS TEXT) AS stream, CAST(c.date AS TEXT) AS date,
  CAST(COALESCE(u.state, 'pending') AS TEXT) AS state, CAST(COALESCE(u.rows, 0) AS INTEGER) AS rows,
  u.last_pulled_at, u.settled_at, u.last_error, u.confirmed, u.doubted_at,
  CAST((c.date <= date('now', '-1 day') AND (k.first_day IS NULL OR c.date >= k.first_day)
  AND (k.streams IS NULL OR replace(k.streams, ',' || s.stream || ',', '') <> k.streams)) AS INTEGER) AS is_expected
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN terms k ON k.org_id = o.org_id
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = c.date
WHERE u.state IS NOT NULL OR (c.date <= date('now', '-1 day') AND (k.first_day IS NULL OR c.date >= k.first_day)
  AND (k.streams IS NULL OR replace(k.streams, ',' || s.stream || ',', '') <> k.streams));