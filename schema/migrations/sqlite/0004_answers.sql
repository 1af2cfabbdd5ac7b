DROP VIEW `users`;--> statement-breakpoint
CREATE TABLE `people` (
	`org_id` text NOT NULL,
	`person` text NOT NULL,
	`valid_from` text NOT NULL,
	`valid_to` text,
	`name` text,
	`team` text,
	`department` text,
	`cost_center` text,
	`manager_email` text,
	PRIMARY KEY(`org_id`, `person`, `valid_from`)
);
--> statement-breakpoint
CREATE TABLE `prices` (
	`org_id` text NOT NULL,
	`valid_from` text NOT NULL,
	`valid_to` text,
	`currency` text NOT NULL,
	`price_per_million` real NOT NULL,
	PRIMARY KEY(`org_id`, `valid_from`)
);
--> statement-breakpoint
CREATE TABLE `budgets` (
	`org_id` text NOT NULL,
	`month` text NOT NULL,
	`team` text NOT NULL,
	`amount` real NOT NULL,
	`currency` text NOT NULL,
	PRIMARY KEY(`org_id`, `month`, `team`)
);
--> statement-breakpoint
CREATE TABLE `dates` (
	`date` text PRIMARY KEY NOT NULL,
	`iso_year` integer NOT NULL,
	`iso_week` integer NOT NULL,
	`week_start` text NOT NULL,
	`month` text NOT NULL,
	`quarter` text NOT NULL,
	`weekday` integer NOT NULL,
	`is_weekend` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `users` (
	`org_id` text NOT NULL,
	`user_id` text NOT NULL,
	`user_email` text,
	`first_active_on` text NOT NULL,
	`last_active_on` text NOT NULL,
	`active_days` integer NOT NULL,
	`billable_tokens` real,
	`tool_calls` real,
	`sessions` real,
	`messages` real,
	`user_messages` real,
	`files_created` real,
	`files_edited` real,
	`git_commits` real,
	`git_prs_created` real,
	`team` text,
	`active_days_30` integer NOT NULL,
	PRIMARY KEY(`org_id`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `user_weekly` (
	`org_id` text NOT NULL,
	`week_start` text NOT NULL,
	`user_id` text NOT NULL,
	`user_email` text,
	`first_active_on` text NOT NULL,
	`last_active_on` text NOT NULL,
	`active_days` integer NOT NULL,
	`billable_tokens` real,
	`tool_calls` real,
	`sessions` real,
	`messages` real,
	`user_messages` real,
	`assistant_messages` real,
	`files_created` real,
	`files_edited` real,
	`git_commits` real,
	`git_prs_created` real,
	`mcp_calls` real,
	`skill_calls` real,
	`slash_commands` real,
	`hooks` real,
	`thinking_tokens` real,
	PRIMARY KEY(`org_id`, `week_start`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `user_weekly_by_user` ON `user_weekly` (`org_id`,`user_id`,`week_start`);--> statement-breakpoint
CREATE TABLE `user_monthly` (
	`org_id` text NOT NULL,
	`month` text NOT NULL,
	`user_id` text NOT NULL,
	`user_email` text,
	`first_active_on` text NOT NULL,
	`last_active_on` text NOT NULL,
	`active_days` integer NOT NULL,
	`billable_tokens` real,
	`tool_calls` real,
	`sessions` real,
	`messages` real,
	`user_messages` real,
	`assistant_messages` real,
	`files_created` real,
	`files_edited` real,
	`git_commits` real,
	`git_prs_created` real,
	`mcp_calls` real,
	`skill_calls` real,
	`slash_commands` real,
	`hooks` real,
	`thinking_tokens` real,
	PRIMARY KEY(`org_id`, `month`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `user_monthly_by_user` ON `user_monthly` (`org_id`,`user_id`,`month`);--> statement-breakpoint
CREATE TABLE `org_monthly` (
	`org_id` text NOT NULL,
	`month` text NOT NULL,
	`active_users` integer,
	`new_users` integer,
	`user_days` integer,
	`billable_tokens` real,
	`tool_calls` real,
	`sessions` real,
	`messages` real,
	`user_messages` real,
	`assistant_messages` real,
	`files_created` real,
	`files_edited` real,
	`git_commits` real,
	`git_prs_created` real,
	`mcp_calls` real,
	`skill_calls` real,
	`slash_commands` real,
	`hooks` real,
	`thinking_tokens` real,
	PRIMARY KEY(`org_id`, `month`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `user_teams` (
	`org_id` text NOT NULL,
	`user_id` text NOT NULL,
	`valid_from` text NOT NULL,
	`valid_to` text NOT NULL,
	`person` text NOT NULL,
	`team` text,
	`department` text,
	`cost_center` text,
	PRIMARY KEY(`org_id`, `user_id`, `valid_from`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `user_emails` (
	`org_id` text NOT NULL,
	`month` text NOT NULL,
	`user_id` text NOT NULL,
	`user_email` text NOT NULL,
	`last_seen_on` text NOT NULL,
	PRIMARY KEY(`org_id`, `month`, `user_id`, `user_email`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `rollup_marks` (
	`org_id` text NOT NULL,
	`rollup` text NOT NULL,
	`date` text NOT NULL,
	`content_sha256` text NOT NULL,
	PRIMARY KEY(`org_id`, `rollup`, `date`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE VIEW `weekly_overview` AS WITH days AS (
  SELECT org_id, date AS date,
    CASE WHEN SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) = 5 THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (state IN ('loaded', 'empty', 'quarantined', 'doubted') OR rows > 0) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN COUNT(settled_at) = 5 THEN 1 ELSE 0 END AS is_settled
  FROM export_units WHERE date <> '' GROUP BY org_id, date
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
  SELECT org_id, date AS date,
    CASE WHEN SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) = 5 THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (state IN ('loaded', 'empty', 'quarantined', 'doubted') OR rows > 0) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN COUNT(settled_at) = 5 THEN 1 ELSE 0 END AS is_settled
  FROM export_units WHERE date <> '' GROUP BY org_id, date
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
CREATE VIEW `thinking_share_by_user` AS SELECT m.org_id, m.user_id, u.user_email, u.team,
  CAST(SUM(m.billable_tokens) AS REAL) AS billable_tokens,
  CAST(CASE WHEN SUM(m.billable_tokens) IS NOT NULL THEN COALESCE(SUM(m.thinking_tokens), 0) END AS REAL) AS thinking_tokens,
  CAST(CASE WHEN SUM(m.billable_tokens) IS NOT NULL THEN COALESCE(SUM(m.thinking_tokens), 0) END / NULLIF(SUM(m.billable_tokens), 0) AS REAL) AS thinking_share
FROM user_monthly m
LEFT JOIN users u ON u.org_id = m.org_id AND u.user_id = m.user_id
GROUP BY m.org_id, m.user_id, u.user_email, u.team;--> statement-breakpoint
CREATE VIEW `inactive_users` AS WITH now AS (
  SELECT org_id, MAX(date) AS today
  FROM export_units WHERE stream = 'users' AND rows > 0 GROUP BY org_id
), known AS (
  SELECT u.org_id, u.user_id, u.user_email, u.last_active_on, n.today, t.person,
    ROW_NUMBER() OVER (
      PARTITION BY u.org_id, t.person, CASE WHEN t.person IS NULL THEN u.user_id END
      ORDER BY u.last_active_on DESC, u.user_id
    ) AS recency
  FROM users u
  JOIN now n ON n.org_id = u.org_id
  LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id AND n.today BETWEEN t.valid_from AND t.valid_to
), everyone AS (
  SELECT p.org_id, p.person, p.name, p.team, NULL AS user_id, NULL AS user_email, NULL AS last_active_on, n.today, 1 AS is_licensed
  FROM people p
  JOIN now n ON n.org_id = p.org_id AND p.valid_from <= n.today AND (p.valid_to IS NULL OR n.today <= p.valid_to)
  UNION ALL
  SELECT org_id, COALESCE(person, user_id), NULL, NULL, user_id, user_email, last_active_on, today, 0
  FROM known
  WHERE recency = 1
), grouped AS (
  SELECT org_id, person, MAX(name) AS name, MAX(team) AS team, MAX(user_id) AS user_id, MAX(user_email) AS user_email,
    MAX(last_active_on) AS last_active_on, today, MAX(is_licensed) AS is_licensed
  FROM everyone
  GROUP BY org_id, person, today
), idle AS (
  SELECT grouped.*, CAST(julianday(today) - julianday(last_active_on) AS INTEGER) AS days_inactive FROM grouped
)
SELECT org_id, CAST(person AS TEXT) AS person, CAST(name AS TEXT) AS name, CAST(team AS TEXT) AS team,
  CAST(user_id AS TEXT) AS user_id, CAST(user_email AS TEXT) AS user_email,
  CAST(last_active_on AS TEXT) AS last_active_on, CAST(days_inactive AS INTEGER) AS days_inactive,
  CAST(CASE WHEN is_licensed = 1 THEN 1 ELSE 0 END AS INTEGER) AS is_licensed
FROM idle
WHERE days_inactive IS NULL OR days_inactive >= 30;--> statement-breakpoint
CREATE VIEW `cost_daily` AS WITH day_tokens AS (
  SELECT org_id, date, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM user_daily GROUP BY org_id, date
),
last_days AS (
  SELECT x.org_id, MAX(x.date) AS date FROM export_units x
  WHERE x.stream = 'users' AND (x.state = 'loaded' OR (x.state NOT IN ('empty', 'awaiting') AND x.rows > 0 AND (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL))))
  GROUP BY x.org_id
),
days AS (
  SELECT l.org_id, d.date, t.has_tokens,
    CASE WHEN NOT (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
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
  SELECT x.org_id, d.date, d.month, d.is_weekend,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND x.settled_at IS NOT NULL AND x.state <> 'doubted'
      AND COALESCE(x.confirmed, '') <> 'age' THEN 1 ELSE 0 END AS is_settled,
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
      SUM(is_settled) AS settled_days, SUM(CASE WHEN is_weekend = 0 THEN is_settled ELSE 0 END) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month
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
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.user_id = o.user_id
      AND u.date BETWEEN o.first_active_on AND o.last_active_on
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
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day, SUM(CASE WHEN is_weekend = 0 THEN 1 ELSE 0 END) AS weekdays FROM dates GROUP BY month
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
  SELECT x.org_id, d.date, d.month, d.is_weekend,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND x.settled_at IS NOT NULL AND x.state <> 'doubted'
      AND COALESCE(x.confirmed, '') <> 'age' THEN 1 ELSE 0 END AS is_settled,
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
      SUM(is_settled) AS settled_days, SUM(CASE WHEN is_weekend = 0 THEN is_settled ELSE 0 END) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month
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
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.user_id = o.user_id
      AND u.date BETWEEN o.first_active_on AND o.last_active_on
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
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day, SUM(CASE WHEN is_weekend = 0 THEN 1 ELSE 0 END) AS weekdays FROM dates GROUP BY month
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
team_months AS (
  SELECT t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency,
    SUM(t.billable_tokens) AS tokens_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.billable_tokens END) END AS tokens_settled,
    SUM(t.cost) AS cost_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.cost END) END AS cost_settled,
    MAX(MAX(t.lacks_price)) OVER (PARTITION BY t.org_id, t.month, t.team) AS lacks_price
  FROM team_costs t
  JOIN unit_days d ON d.org_id = t.org_id AND d.date = t.date
  JOIN months m ON m.org_id = t.org_id AND m.month = t.month
  JOIN calendar c ON c.month = t.month
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
CREATE VIEW `readiness_history` AS WITH scored AS (
SELECT r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash,
  CAST(COUNT(c.criterion_id) AS INTEGER) AS criteria,
  CAST(COUNT(c.numerator) AS INTEGER) AS criteria_evaluated,
  CAST(SUM(CASE WHEN c.numerator >= c.denominator THEN 1 ELSE 0 END) AS INTEGER) AS criteria_passed,
  CAST(AVG(c.numerator * 1.0 / NULLIF(c.denominator, 0)) AS REAL) AS score
FROM readiness_reports r
LEFT JOIN readiness_report_criteria c ON c.org_id = r.org_id AND c.report_id = r.report_id
GROUP BY r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash
), compared AS (
  SELECT scored.*, LAG(score) OVER (PARTITION BY org_id, repo_url ORDER BY created_at, report_id) AS previous_score
  FROM scored
)
SELECT org_id, repo_url, report_id, created_at, branch, commit_hash, criteria, criteria_evaluated, criteria_passed, score,
  CAST(previous_score AS REAL) AS previous_score,
  CAST(score - previous_score AS REAL) AS score_change
FROM compared;--> statement-breakpoint
CREATE VIEW `failing_criteria` AS WITH ranked AS (
  SELECT org_id, repo_url, report_id, created_at, branch, commit_hash,
    ROW_NUMBER() OVER (PARTITION BY org_id, repo_url ORDER BY created_at DESC, report_id DESC) AS recency
  FROM readiness_reports
)
SELECT r.org_id, r.repo_url, c.criterion_id, c.numerator, c.denominator, c.rationale,
  r.report_id, r.created_at, r.branch
FROM ranked r
JOIN readiness_report_criteria c ON c.org_id = r.org_id AND c.report_id = r.report_id
WHERE r.recency = 1 AND c.numerator < c.denominator;--> statement-breakpoint
CREATE VIEW `restated_days` AS WITH numbers AS (
  SELECT r.org_id, r.stream, r.date, r.detected_at, 'before' AS side, CASE WHEN n.key = 'rows' THEN '' ELSE CASE r.stream WHEN 'tokens' THEN 'tokens_daily' WHEN 'tools' THEN 'tools_daily' WHEN 'activity' THEN 'activity_daily' WHEN 'productivity' THEN 'productivity_daily' WHEN 'users' THEN 'user_daily' END END AS table_name, n.key AS column_name, n.value AS value
  FROM restatements r, json_each(r."before") n
  WHERE r.date <> '' AND n.type IN ('integer', 'real', 'null') AND n.key <> 'content_sha256'
  UNION ALL
  SELECT r.org_id, r.stream, r.date, r.detected_at, 'before', t.key, n.key, n.value
  FROM restatements r, json_each(r."before", '$.breakdowns') t, json_each(t.value) n
  WHERE r.date <> '' AND n.type IN ('integer', 'real', 'null')
  UNION ALL
  SELECT r.org_id, r.stream, r.date, r.detected_at, 'after' AS side, CASE WHEN n.key = 'rows' THEN '' ELSE CASE r.stream WHEN 'tokens' THEN 'tokens_daily' WHEN 'tools' THEN 'tools_daily' WHEN 'activity' THEN 'activity_daily' WHEN 'productivity' THEN 'productivity_daily' WHEN 'users' THEN 'user_daily' END END AS table_name, n.key AS column_name, n.value AS value
  FROM restatements r, json_each(r."after") n
  WHERE r.date <> '' AND n.type IN ('integer', 'real', 'null') AND n.key <> 'content_sha256'
  UNION ALL
  SELECT r.org_id, r.stream, r.date, r.detected_at, 'after', t.key, n.key, n.value
  FROM restatements r, json_each(r."after", '$.breakdowns') t, json_each(t.value) n
  WHERE r.date <> '' AND n.type IN ('integer', 'real', 'null')
), changes AS (
  SELECT org_id, stream, date, detected_at, table_name, column_name,
    MAX(CASE WHEN side = 'before' THEN value END) AS value_before,
    MAX(CASE WHEN side = 'after' THEN value END) AS value_after
  FROM numbers
  GROUP BY org_id, stream, date, detected_at, table_name, column_name
  HAVING MAX(CASE WHEN side = 'before' THEN value END) IS NOT MAX(CASE WHEN side = 'after' THEN value END)
)
SELECT r.org_id, r.stream, r.date AS date, r.detected_at,
  CAST(COALESCE(c.table_name, '') AS TEXT) AS table_name,
  CAST(COALESCE(c.column_name, '') AS TEXT) AS column_name,
  CAST(c.value_before AS REAL) AS value_before,
  CAST(c.value_after AS REAL) AS value_after,
  CAST(CASE WHEN c.column_name IS NOT NULL THEN COALESCE(c.value_after, 0) - COALESCE(c.value_before, 0) END AS REAL) AS change
FROM restatements r
LEFT JOIN changes c ON c.org_id = r.org_id AND c.stream = r.stream AND c.date = r.date AND c.detected_at = r.detected_at
WHERE r.date <> '';