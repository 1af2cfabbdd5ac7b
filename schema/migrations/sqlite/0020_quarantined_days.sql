DROP VIEW `daily_overview`;--> statement-breakpoint
DROP VIEW `weekly_overview`;--> statement-breakpoint
DROP VIEW `monthly_overview`;--> statement-breakpoint
DROP VIEW `cost_daily`;--> statement-breakpoint
DROP VIEW `cost_monthly_by_team`;--> statement-breakpoint
DROP VIEW `month_forecast`;--> statement-breakpoint
DROP VIEW `budget_outlook`;--> statement-breakpoint
DROP VIEW `today_so_far`;--> statement-breakpoint
CREATE VIEW `daily_overview` AS SELECT d.org_id, d.date,
  t.billable_tokens, t.input_tokens, t.output_tokens,
  a.daily_active_users, a.weekly_active_users, a.monthly_active_users,
  a.sessions, a.messages, a.user_messages,
  o.tool_calls, o.skills_invocations, o.slash_commands_invocations, o.hooks_invocations,
  p.files_created, p.files_edited, p.git_commits, p.git_prs_created,
  CAST(CASE WHEN d.has_expired = 0 THEN (SELECT COUNT(*) FROM user_daily u WHERE u.org_id = d.org_id AND u.date = d.date) END AS INTEGER) AS users,
  CAST(d.streams_held AS INTEGER) AS streams_held,
  CAST(d.is_settled AS INTEGER) AS is_settled
FROM (
  SELECT u.org_id, date,
    SUM(CASE WHEN (u.state IN ('loaded', 'empty', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END) AS streams_held, MAX(CASE WHEN state = 'expired' THEN 1 ELSE 0 END) AS has_expired,
    CASE WHEN SUM(CASE WHEN (u.settled_at IS NOT NULL AND u.state <> 'doubted' AND COALESCE(u.confirmed, '') <> 'age') AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
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
    CASE WHEN SUM(CASE WHEN (u.state = 'expired' OR (u.state IN ('loaded', 'empty', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL))) AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (u.state IN ('loaded', 'empty', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN SUM(CASE WHEN (u.settled_at IS NOT NULL AND u.state <> 'doubted' AND COALESCE(u.confirmed, '') <> 'age') AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_settled, MAX(CASE WHEN state = 'expired' THEN 1 ELSE 0 END) AS has_expired
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
), numbers AS (
  SELECT d.org_id, date(d.date, 'weekday 0', '-6 days') AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
    MAX(d.has_users) AS has_users, MAX(d.has_expired) AS has_expired,
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
  CAST(CASE WHEN n.has_users = 1 AND n.has_expired = 0 THEN COALESCE(a.users, 0) END AS INTEGER) AS active_users, CAST(CASE WHEN n.has_users = 1 AND NOT EXISTS (
    SELECT 1 FROM export_units x WHERE x.org_id = n.org_id AND x.stream = 'users' AND x.state = 'expired') THEN COALESCE(f.users, 0) END AS INTEGER) AS new_users,
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
    CASE WHEN SUM(CASE WHEN (u.state = 'expired' OR (u.state IN ('loaded', 'empty', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL))) AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (u.state IN ('loaded', 'empty', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN SUM(CASE WHEN (u.settled_at IS NOT NULL AND u.state <> 'doubted' AND COALESCE(u.confirmed, '') <> 'age') AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_settled, MAX(CASE WHEN state = 'expired' THEN 1 ELSE 0 END) AS has_expired
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
), numbers AS (
  SELECT d.org_id, substr(d.date, 1, 7) AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
    MAX(d.has_users) AS has_users, MAX(d.has_expired) AS has_expired,
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
  CAST(CASE WHEN EXISTS (SELECT 1 FROM people p WHERE p.org_id = n.org_id) AND n.has_expired = 0 THEN COALESCE(l.people, 0) - COALESCE(b.people, 0) END AS INTEGER) AS inactive_users,
  CAST(CASE WHEN n.has_users = 1 AND n.has_expired = 0 THEN COALESCE(o.active_users, 0) END AS INTEGER) AS active_users, CAST(CASE WHEN n.has_users = 1 AND NOT EXISTS (
    SELECT 1 FROM export_units x WHERE x.org_id = n.org_id AND x.stream = 'users' AND x.state = 'expired') THEN COALESCE(o.new_users, 0) END AS INTEGER) AS new_users,
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
CREATE VIEW `cost_daily` AS WITH day_tokens AS (
  SELECT org_id, date, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM user_daily GROUP BY org_id, date
),
last_days AS (
  SELECT x.org_id, MAX(x.date) AS date FROM export_units x
  WHERE x.stream = 'users' AND (x.state = 'loaded' OR (x.state NOT IN ('empty', 'awaiting') AND x.rows > 0 AND (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL))))
  GROUP BY x.org_id
),
days AS (
  SELECT l.org_id, d.date, t.has_tokens,
    CASE WHEN NOT (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) OR x.state IS NULL THEN NULL WHEN t.has_tokens IS NULL THEN 0 ELSE t.billable_tokens END AS billable_tokens
  FROM last_days l
  JOIN dates d ON d.date <= l.date
  LEFT JOIN export_units x ON x.org_id = l.org_id AND x.stream = 'users' AND x.date = d.date
  LEFT JOIN day_tokens t ON t.org_id = l.org_id AND t.date = d.date
)
SELECT n.org_id, n.date, p.currency, CAST(n.billable_tokens AS REAL) AS billable_tokens,
  CAST(CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN NULL ELSE n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 END AS REAL) AS cost
FROM days n
LEFT JOIN prices p ON p.org_id = n.org_id AND p.valid_from <= n.date AND COALESCE(p.valid_to, '9999-12-31') >= n.date;--> statement-breakpoint
CREATE VIEW `cost_monthly_by_team` AS WITH unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND (x.settled_at IS NOT NULL AND x.state <> 'doubted' AND COALESCE(x.confirmed, '') <> 'age') THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
team_days AS (
  SELECT org_id, month, date, team, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM (
    SELECT m.org_id, m.month, m.first_day AS date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN user_monthly u ON u.org_id = m.org_id AND u.month = m.month
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.last_active_on AND t.valid_to >= u.first_active_on
    WHERE m.is_uniform = 1
      AND (t.user_id IS NULL OR (t.valid_from <= u.first_active_on AND t.valid_to >= u.last_active_on))
    UNION ALL
    SELECT o.org_id, o.month, o.first_day, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM (
      SELECT DISTINCT m.org_id, m.month, m.first_day, w.user_id, w.first_active_on, w.last_active_on
      FROM months m
      CROSS JOIN user_monthly w ON w.org_id = m.org_id AND w.month = m.month
      CROSS JOIN user_teams t ON t.org_id = w.org_id AND t.user_id = w.user_id
        AND t.valid_from <= w.last_active_on AND t.valid_to >= w.first_active_on
      WHERE m.is_uniform = 1 AND (t.valid_from > w.first_active_on OR t.valid_to < w.last_active_on)
    ) o
    CROSS JOIN dates c ON c.date BETWEEN o.first_active_on AND o.last_active_on
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.date = c.date AND u.user_id = o.user_id
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    UNION ALL
    SELECT d.org_id, d.month, d.date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
    CROSS JOIN user_daily u ON u.org_id = d.org_id AND u.date = d.date
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    WHERE m.is_uniform = 0
  ) u
  GROUP BY org_id, month, date, team
),
calendar AS (
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day FROM dates GROUP BY month
),
priced_months AS (
  SELECT p.org_id, c.month, CASE WHEN MIN(p.currency) = MAX(p.currency) THEN MIN(p.currency) END AS only_currency
  FROM calendar c
  JOIN prices p ON p.valid_from <= c.last_day AND COALESCE(p.valid_to, '9999-12-31') >= c.first_day
  GROUP BY p.org_id, c.month
),
team_costs AS (
  SELECT n.org_id, n.month, n.date, n.team, COALESCE(p.currency, c.only_currency) AS currency, n.billable_tokens,
    CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN 1 ELSE 0 END AS lacks_price,
    n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 AS cost
  FROM team_days n
  LEFT JOIN prices p ON p.org_id = n.org_id AND p.valid_from <= n.date AND COALESCE(p.valid_to, '9999-12-31') >= n.date
  LEFT JOIN priced_months c ON c.org_id = n.org_id AND c.month = n.month
)
SELECT org_id, month, CAST(team AS TEXT) AS team, CAST(currency AS TEXT) AS currency,
  CAST(SUM(billable_tokens) AS REAL) AS billable_tokens,
  CAST(CASE WHEN MAX(MAX(lacks_price)) OVER (PARTITION BY org_id, month, team) = 0 THEN SUM(cost) END AS REAL) AS cost
FROM team_costs
GROUP BY org_id, month, team, currency;--> statement-breakpoint
CREATE VIEW `month_forecast` AS WITH unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND (x.settled_at IS NOT NULL AND x.state <> 'doubted' AND COALESCE(x.confirmed, '') <> 'age') THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
team_days AS (
  SELECT org_id, month, date, team, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM (
    SELECT m.org_id, m.month, m.first_day AS date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN user_monthly u ON u.org_id = m.org_id AND u.month = m.month
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.last_active_on AND t.valid_to >= u.first_active_on
    WHERE m.is_uniform = 1
      AND (t.user_id IS NULL OR (t.valid_from <= u.first_active_on AND t.valid_to >= u.last_active_on))
    UNION ALL
    SELECT o.org_id, o.month, o.first_day, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM (
      SELECT DISTINCT m.org_id, m.month, m.first_day, w.user_id, w.first_active_on, w.last_active_on
      FROM months m
      CROSS JOIN user_monthly w ON w.org_id = m.org_id AND w.month = m.month
      CROSS JOIN user_teams t ON t.org_id = w.org_id AND t.user_id = w.user_id
        AND t.valid_from <= w.last_active_on AND t.valid_to >= w.first_active_on
      WHERE m.is_uniform = 1 AND (t.valid_from > w.first_active_on OR t.valid_to < w.last_active_on)
    ) o
    CROSS JOIN dates c ON c.date BETWEEN o.first_active_on AND o.last_active_on
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.date = c.date AND u.user_id = o.user_id
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    UNION ALL
    SELECT d.org_id, d.month, d.date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
    CROSS JOIN user_daily u ON u.org_id = d.org_id AND u.date = d.date
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    WHERE m.is_uniform = 0
  ) u
  GROUP BY org_id, month, date, team
),
calendar AS (
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day FROM dates GROUP BY month
),
priced_months AS (
  SELECT p.org_id, c.month, CASE WHEN MIN(p.currency) = MAX(p.currency) THEN MIN(p.currency) END AS only_currency
  FROM calendar c
  JOIN prices p ON p.valid_from <= c.last_day AND COALESCE(p.valid_to, '9999-12-31') >= c.first_day
  GROUP BY p.org_id, c.month
),
team_costs AS (
  SELECT n.org_id, n.month, n.date, n.team, COALESCE(p.currency, c.only_currency) AS currency, n.billable_tokens,
    CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN 1 ELSE 0 END AS lacks_price,
    n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 AS cost
  FROM team_days n
  LEFT JOIN prices p ON p.org_id = n.org_id AND p.valid_from <= n.date AND COALESCE(p.valid_to, '9999-12-31') >= n.date
  LEFT JOIN priced_months c ON c.org_id = n.org_id AND c.month = n.month
),
working_days AS (
  SELECT m.org_id, m.month, SUM(CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = m.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END) AS weekdays
  FROM months m
  JOIN dates d ON d.month = m.month
  GROUP BY m.org_id, m.month
),
team_months AS (
  SELECT t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency,
    SUM(t.billable_tokens) AS tokens_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.billable_tokens END) END AS tokens_settled,
    SUM(t.cost) AS cost_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.cost END) END AS cost_settled,
    MAX(MAX(t.lacks_price)) OVER (PARTITION BY t.org_id, t.month, t.team) AS lacks_price
  FROM team_costs t
  JOIN unit_days d ON d.org_id = t.org_id AND d.date = t.date
  JOIN months m ON m.org_id = t.org_id AND m.month = t.month
  JOIN working_days c ON c.org_id = t.org_id AND c.month = t.month
  LEFT JOIN priced_months p ON p.org_id = t.org_id AND p.month = t.month
  GROUP BY t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency
)
SELECT org_id, month, CAST(team AS TEXT) AS team, CAST(currency AS TEXT) AS currency,
  CAST(settled_days AS INTEGER) AS settled_days, CAST(weekdays_settled AS INTEGER) AS weekdays_settled,
  CAST(weekdays AS INTEGER) AS weekdays,
  CAST(tokens_so_far AS REAL) AS tokens_so_far, CAST(CASE WHEN weekdays_settled = weekdays THEN tokens_settled ELSE tokens_settled * weekdays / NULLIF(weekdays_settled, 0) END AS REAL) AS tokens_forecast,
  CAST(CASE WHEN lacks_price = 0 THEN cost_so_far END AS REAL) AS cost_so_far,
  CAST(CASE WHEN lacks_price = 0 THEN cost_settled END AS REAL) AS cost_settled,
  CAST(CASE WHEN lacks_price = 0 AND only_currency IS NOT NULL THEN CASE WHEN weekdays_settled = weekdays THEN cost_settled ELSE cost_settled * weekdays / NULLIF(weekdays_settled, 0) END END AS REAL) AS cost_forecast
FROM team_months;--> statement-breakpoint
CREATE VIEW `budget_outlook` AS WITH forecasts AS (
WITH unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND (x.settled_at IS NOT NULL AND x.state <> 'doubted' AND COALESCE(x.confirmed, '') <> 'age') THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
team_days AS (
  SELECT org_id, month, date, team, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM (
    SELECT m.org_id, m.month, m.first_day AS date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN user_monthly u ON u.org_id = m.org_id AND u.month = m.month
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.last_active_on AND t.valid_to >= u.first_active_on
    WHERE m.is_uniform = 1
      AND (t.user_id IS NULL OR (t.valid_from <= u.first_active_on AND t.valid_to >= u.last_active_on))
    UNION ALL
    SELECT o.org_id, o.month, o.first_day, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM (
      SELECT DISTINCT m.org_id, m.month, m.first_day, w.user_id, w.first_active_on, w.last_active_on
      FROM months m
      CROSS JOIN user_monthly w ON w.org_id = m.org_id AND w.month = m.month
      CROSS JOIN user_teams t ON t.org_id = w.org_id AND t.user_id = w.user_id
        AND t.valid_from <= w.last_active_on AND t.valid_to >= w.first_active_on
      WHERE m.is_uniform = 1 AND (t.valid_from > w.first_active_on OR t.valid_to < w.last_active_on)
    ) o
    CROSS JOIN dates c ON c.date BETWEEN o.first_active_on AND o.last_active_on
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.date = c.date AND u.user_id = o.user_id
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    UNION ALL
    SELECT d.org_id, d.month, d.date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
    CROSS JOIN user_daily u ON u.org_id = d.org_id AND u.date = d.date
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    WHERE m.is_uniform = 0
  ) u
  GROUP BY org_id, month, date, team
),
calendar AS (
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day FROM dates GROUP BY month
),
priced_months AS (
  SELECT p.org_id, c.month, CASE WHEN MIN(p.currency) = MAX(p.currency) THEN MIN(p.currency) END AS only_currency
  FROM calendar c
  JOIN prices p ON p.valid_from <= c.last_day AND COALESCE(p.valid_to, '9999-12-31') >= c.first_day
  GROUP BY p.org_id, c.month
),
team_costs AS (
  SELECT n.org_id, n.month, n.date, n.team, COALESCE(p.currency, c.only_currency) AS currency, n.billable_tokens,
    CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN 1 ELSE 0 END AS lacks_price,
    n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 AS cost
  FROM team_days n
  LEFT JOIN prices p ON p.org_id = n.org_id AND p.valid_from <= n.date AND COALESCE(p.valid_to, '9999-12-31') >= n.date
  LEFT JOIN priced_months c ON c.org_id = n.org_id AND c.month = n.month
),
working_days AS (
  SELECT m.org_id, m.month, SUM(CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = m.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END) AS weekdays
  FROM months m
  JOIN dates d ON d.month = m.month
  GROUP BY m.org_id, m.month
),
team_months AS (
  SELECT t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency,
    SUM(t.billable_tokens) AS tokens_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.billable_tokens END) END AS tokens_settled,
    SUM(t.cost) AS cost_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.cost END) END AS cost_settled,
    MAX(MAX(t.lacks_price)) OVER (PARTITION BY t.org_id, t.month, t.team) AS lacks_price
  FROM team_costs t
  JOIN unit_days d ON d.org_id = t.org_id AND d.date = t.date
  JOIN months m ON m.org_id = t.org_id AND m.month = t.month
  JOIN working_days c ON c.org_id = t.org_id AND c.month = t.month
  LEFT JOIN priced_months p ON p.org_id = t.org_id AND p.month = t.month
  GROUP BY t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency
)
SELECT org_id, month, CAST(team AS TEXT) AS team, CAST(currency AS TEXT) AS currency,
  CAST(settled_days AS INTEGER) AS settled_days, CAST(weekdays_settled AS INTEGER) AS weekdays_settled,
  CAST(weekdays AS INTEGER) AS weekdays,
  CAST(tokens_so_far AS REAL) AS tokens_so_far, CAST(CASE WHEN weekdays_settled = weekdays THEN tokens_settled ELSE tokens_settled * weekdays / NULLIF(weekdays_settled, 0) END AS REAL) AS tokens_forecast,
  CAST(CASE WHEN lacks_price = 0 THEN cost_so_far END AS REAL) AS cost_so_far,
  CAST(CASE WHEN lacks_price = 0 THEN cost_settled END AS REAL) AS cost_settled,
  CAST(CASE WHEN lacks_price = 0 AND only_currency IS NOT NULL THEN CASE WHEN weekdays_settled = weekdays THEN cost_settled ELSE cost_settled * weekdays / NULLIF(weekdays_settled, 0) END END AS REAL) AS cost_forecast
FROM team_months
),
unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'doubted')
      OR (x.state = 'awaiting' AND CAST(x.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND (x.settled_at IS NOT NULL AND x.state <> 'doubted' AND COALESCE(x.confirmed, '') <> 'age') THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
stored AS (
  SELECT m.org_id, m.month, m.weekdays_settled, MAX(d.is_stored) AS is_stored
  FROM months m JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
  GROUP BY m.org_id, m.month, m.weekdays_settled
),
judged AS (
  SELECT b.org_id, b.month, b.team, b.amount, b.currency,
    CASE WHEN MIN(p.currency) <> b.currency OR MAX(p.currency) <> b.currency THEN 1 ELSE 0 END AS has_other_currency
  FROM budgets b
  LEFT JOIN prices p ON p.org_id = b.org_id AND p.valid_from <= date(b.month || '-01', '+1 month', '-1 day')
    AND COALESCE(p.valid_to, '9999-12-31') >= b.month || '-01'
  GROUP BY b.org_id, b.month, b.team, b.amount, b.currency
),
outlook AS (
  SELECT b.org_id, b.month, b.team, b.currency, b.amount AS budget, b.has_other_currency,
    CASE WHEN b.has_other_currency = 1 THEN NULL WHEN f.team IS NULL THEN CASE WHEN s.is_stored = 1 THEN 0 END ELSE f.tokens_so_far END AS tokens_so_far,
    CASE WHEN b.has_other_currency = 1 THEN NULL WHEN f.team IS NULL THEN CASE WHEN s.is_stored = 1 THEN 0 END ELSE f.cost_so_far END AS cost_so_far,
    CASE WHEN b.has_other_currency = 1 THEN NULL WHEN f.team IS NULL THEN CASE WHEN s.weekdays_settled > 0 THEN 0 END ELSE f.cost_forecast END AS cost_forecast
  FROM judged b
  LEFT JOIN forecasts f ON f.org_id = b.org_id AND f.month = b.month AND f.team = b.team AND b.has_other_currency = 0
  LEFT JOIN stored s ON s.org_id = b.org_id AND s.month = b.month
)
SELECT org_id, month, team, currency, budget, CAST(cost_so_far AS REAL) AS cost_so_far,
  CAST(cost_forecast AS REAL) AS cost_forecast,
  CAST(cost_so_far / NULLIF(budget, 0) AS REAL) AS share_used, CAST(CASE WHEN has_other_currency = 1 THEN 'other currency'
    WHEN cost_so_far IS NULL AND tokens_so_far IS NULL THEN 'no data'
    WHEN cost_so_far IS NULL THEN 'no price'
    WHEN cost_so_far > budget * 1.000000001 THEN 'over budget'
    WHEN cost_forecast > budget * 1.000000001 THEN 'forecast over budget'
    ELSE 'ok' END AS TEXT) AS status
FROM outlook;--> statement-breakpoint
CREATE VIEW `today_so_far` AS WITH organizations AS (
  SELECT known.org_id, COALESCE(
    (SELECT date(MAX(u.date), '+1 day') FROM export_units u WHERE u.org_id = known.org_id AND u.stream = 'activity' AND (u.state IN ('loaded', 'empty', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL))),
    '2026-01-14') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
)

SELECT CAST(o.org_id AS TEXT) AS org_id, CAST(o.since AS TEXT) AS since,
  CAST(COUNT(DISTINCT h.session_id) AS INTEGER) AS sessions,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0) AS INTEGER) AS stops,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0) AS INTEGER) AS subagent_stops,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0) AS INTEGER) AS notifications,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0) AS INTEGER) AS session_ends,
  CAST(COUNT(h.event_id) AS INTEGER) AS events,
  CAST(MAX(h.received_at) AS TEXT) AS last_event_at
FROM organizations o
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= o.since
  AND h.received_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
GROUP BY o.org_id, o.since;