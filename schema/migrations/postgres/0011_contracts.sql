DROP VIEW "daily_overview";--> statement-breakpoint
DROP VIEW "weekly_overview";--> statement-breakpoint
DROP VIEW "monthly_overview";--> statement-breakpoint
DROP VIEW "coverage";--> statement-breakpoint
CREATE TABLE "contracts" (
	"org_id" text COLLATE "C" NOT NULL,
	"first_day" date NOT NULL,
	"streams" text NOT NULL,
	"max_age_seconds" bigint NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "contracts_key" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE VIEW "daily_overview" AS (SELECT d.org_id, d.date,
  t.billable_tokens, t.input_tokens, t.output_tokens,
  a.daily_active_users, a.weekly_active_users, a.monthly_active_users,
  a.sessions, a.messages, a.user_messages,
  o.tool_calls, o.skills_invocations, o.slash_commands_invocations, o.hooks_invocations,
  p.files_created, p.files_edited, p.git_commits, p.git_prs_created,
  (SELECT COUNT(*) FROM user_daily u WHERE u.org_id = d.org_id AND u.date = d.date) AS users,
  d.streams_held AS streams_held,
  d.is_settled AS is_settled
FROM (
  SELECT u.org_id, CAST(date AS date) AS date,
    SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) AS streams_held,
    CASE WHEN SUM(CASE WHEN settled_at IS NOT NULL AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN true ELSE false END AS is_settled
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
) d
LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date);--> statement-breakpoint
CREATE VIEW "weekly_overview" AS (WITH days AS (
  SELECT u.org_id, CAST(date AS date) AS date,
    CASE WHEN SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (state IN ('loaded', 'empty', 'quarantined', 'doubted') OR rows > 0) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN SUM(CASE WHEN settled_at IS NOT NULL AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_settled
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
), numbers AS (
  SELECT d.org_id, CAST(date_trunc('week', CAST(d.date AS timestamp)) AS date) AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
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
  GROUP BY d.org_id, CAST(date_trunc('week', CAST(d.date AS timestamp)) AS date)
), active AS (
  SELECT org_id, week_start, COUNT(*) AS users FROM user_weekly GROUP BY org_id, week_start
), fresh AS (
  SELECT org_id, CAST(date_trunc('week', CAST(first_active_on AS timestamp)) AS date) AS week_start, COUNT(*) AS users
  FROM users GROUP BY org_id, CAST(date_trunc('week', CAST(first_active_on AS timestamp)) AS date)
)
SELECT n.org_id, n.period AS week_start,
  CASE WHEN n.has_users = 1 THEN COALESCE(a.users, 0) END AS active_users, CASE WHEN n.has_users = 1 THEN COALESCE(f.users, 0) END AS new_users,
  n.billable_tokens AS billable_tokens,
  n.input_tokens AS input_tokens,
  n.output_tokens AS output_tokens,
  n.sessions AS sessions,
  n.messages AS messages,
  n.user_messages AS user_messages,
  n.tool_calls AS tool_calls,
  n.skills_invocations AS skills_invocations,
  n.slash_commands_invocations AS slash_commands_invocations,
  n.hooks_invocations AS hooks_invocations,
  n.files_created AS files_created,
  n.files_edited AS files_edited,
  n.git_commits AS git_commits,
  n.git_prs_created AS git_prs_created,
  CAST(n.period + 6 - GREATEST(n.period, DATE '2026-01-14') AS bigint) + 1 AS days_expected, n.days_held AS days_held,
  CASE WHEN n.days_settled = CAST(n.period + 6 - GREATEST(n.period, DATE '2026-01-14') AS bigint) + 1 THEN true ELSE false END AS is_settled
FROM numbers n
LEFT JOIN active a ON a.org_id = n.org_id AND a.week_start = n.period
LEFT JOIN fresh f ON f.org_id = n.org_id AND f.week_start = n.period);--> statement-breakpoint
CREATE VIEW "monthly_overview" AS (WITH days AS (
  SELECT u.org_id, CAST(date AS date) AS date,
    CASE WHEN SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (state IN ('loaded', 'empty', 'quarantined', 'doubted') OR rows > 0) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN SUM(CASE WHEN settled_at IS NOT NULL AND (k.streams IS NULL OR replace(',' || k.streams || ',', ',' || stream || ',', '') <> ',' || k.streams || ',') THEN 1 ELSE 0 END) = CASE WHEN k.streams IS NULL THEN 5 ELSE
      CASE WHEN replace(',' || k.streams || ',', ',' || 'tokens' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'tools' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'activity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'productivity' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END + CASE WHEN replace(',' || k.streams || ',', ',' || 'users' || ',', '') <> ',' || k.streams || ',' THEN 1 ELSE 0 END END THEN 1 ELSE 0 END AS is_settled
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
), numbers AS (
  SELECT d.org_id, to_char(d.date, 'YYYY-MM') AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
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
  GROUP BY d.org_id, to_char(d.date, 'YYYY-MM')
),
now AS (
  SELECT org_id, CAST(MAX(date) AS date) AS today
  FROM export_units WHERE stream = 'users' AND rows > 0 GROUP BY org_id
), ends AS (
  SELECT n.org_id, n.period AS month, LEAST(CAST(CAST(n.period || '-01' AS date) + INTERVAL '1 month' AS date) - 1, now.today) AS last_day
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
SELECT n.org_id, n.period AS month,
  CASE WHEN EXISTS (SELECT 1 FROM people p WHERE p.org_id = n.org_id) THEN COALESCE(l.people, 0) END AS licensed_users,
  CASE WHEN EXISTS (SELECT 1 FROM people p WHERE p.org_id = n.org_id) THEN COALESCE(l.people, 0) - COALESCE(b.people, 0) END AS inactive_users,
  CASE WHEN n.has_users = 1 THEN COALESCE(o.active_users, 0) END AS active_users, CASE WHEN n.has_users = 1 THEN COALESCE(o.new_users, 0) END AS new_users,
  n.billable_tokens AS billable_tokens,
  n.input_tokens AS input_tokens,
  n.output_tokens AS output_tokens,
  n.sessions AS sessions,
  n.messages AS messages,
  n.user_messages AS user_messages,
  n.tool_calls AS tool_calls,
  n.skills_invocations AS skills_invocations,
  n.slash_commands_invocations AS slash_commands_invocations,
  n.hooks_invocations AS hooks_invocations,
  n.files_created AS files_created,
  n.files_edited AS files_edited,
  n.git_commits AS git_commits,
  n.git_prs_created AS git_prs_created,
  CAST(CAST(CAST(n.period || '-01' AS date) + INTERVAL '1 month' AS date) - 1 - GREATEST(CAST(n.period || '-01' AS date), DATE '2026-01-14') AS bigint) + 1 AS days_expected, n.days_held AS days_held,
  CASE WHEN n.days_settled = CAST(CAST(CAST(n.period || '-01' AS date) + INTERVAL '1 month' AS date) - 1 - GREATEST(CAST(n.period || '-01' AS date), DATE '2026-01-14') AS bigint) + 1 THEN true ELSE false END AS is_settled
FROM numbers n
LEFT JOIN org_monthly o ON o.org_id = n.org_id AND o.month = n.period COLLATE "C"
LEFT JOIN licensed l ON l.org_id = n.org_id AND l.month = n.period
LEFT JOIN busy b ON b.org_id = n.org_id AND b.month = n.period);--> statement-breakpoint
CREATE VIEW "coverage" AS (WITH calendar(date) AS (
  SELECT CAST(d AS date) FROM generate_series(
    DATE '2026-01-14',
    GREATEST((now() AT TIME ZONE 'UTC')::date - 1, (SELECT MAX(NULLIF(date, ''))::date FROM export_units)),
    INTERVAL '1 day') AS d
), streams(stream) AS (VALUES ('tokens'), ('tools'), ('activity'), ('productivity'), ('users')), terms AS (
SELECT org_id, first_day AS first_day,
  CASE WHEN replace(',' || streams || ',', ',' || 'tokens' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'tools' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'activity' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'productivity' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'users' || ',', '') <> ',' || streams || ','
    OR replace(',' || streams || ',', ',' || 'readiness' || ',', '') <> ',' || streams || ','
  THEN ',' || streams || ',' END AS streams
FROM contracts
)

SELECT o.org_id, s.stream AS stream, c.date AS date,
  COALESCE(u.state, 'pending') AS state, COALESCE(u.rows, 0) AS rows,
  u.last_pulled_at, u.settled_at, u.last_error, u.confirmed, u.doubted_at,
  (c.date <= (now() AT TIME ZONE 'UTC')::date - 1 AND (k.first_day IS NULL OR c.date >= k.first_day)
  AND (k.streams IS NULL OR replace(k.streams, ',' || s.stream || ',', '') <> k.streams)) AS is_expected
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN terms k ON k.org_id = o.org_id
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = to_char(c.date, 'YYYY-MM-DD')
WHERE u.state IS NOT NULL OR (c.date <= (now() AT TIME ZONE 'UTC')::date - 1 AND (k.first_day IS NULL OR c.date >= k.first_day)
  AND (k.streams IS NULL OR replace(k.streams, ',' || s.stream || ',', '') <> k.streams)));