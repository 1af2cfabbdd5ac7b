-- Editing the declarations rewrites no row: SQLite keeps a whole number of a REAL column as an integer on disk, as it did before.
PRAGMA writable_schema = ON;--> statement-breakpoint
UPDATE sqlite_master SET sql = replace(sql, '` numeric', '` real') WHERE type = 'table' AND name IN (
  'tokens_daily',
  'tokens_daily_by_model',
  'tokens_daily_by_user',
  'tokens_daily_by_user_model',
  'tools_daily',
  'tools_daily_by_tool',
  'tools_daily_by_mcp_server',
  'tools_daily_by_skill',
  'tools_daily_by_slash_command',
  'tools_daily_by_hook',
  'activity_daily',
  'activity_daily_by_client',
  'productivity_daily',
  'productivity_daily_by_extension',
  'productivity_daily_by_language',
  'user_daily',
  'readiness_report_criteria'
);--> statement-breakpoint
PRAGMA writable_schema = RESET;--> statement-breakpoint
ALTER TABLE `quarantine` ADD `accepted_at` text;--> statement-breakpoint
DROP VIEW `daily_overview`;--> statement-breakpoint
DROP VIEW `users`;--> statement-breakpoint
DROP VIEW `model_mix`;--> statement-breakpoint
DROP VIEW `readiness_latest`;--> statement-breakpoint
DROP VIEW `coverage`;--> statement-breakpoint
DROP VIEW `today_so_far`;--> statement-breakpoint
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
  SELECT org_id, date,
    SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) AS streams_held,
    CASE WHEN COUNT(settled_at) = 5 THEN 1 ELSE 0 END AS is_settled
  FROM export_units WHERE date <> '' GROUP BY org_id, date
) d
LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date;--> statement-breakpoint
CREATE VIEW `users` AS SELECT org_id, user_id, CAST(substr(MAX(CASE WHEN user_email IS NOT NULL THEN date || user_email END), 11) AS TEXT) AS user_email,
  CAST(MIN(date) AS TEXT) AS first_active_on, CAST(MAX(date) AS TEXT) AS last_active_on,
  CAST(COUNT(*) AS INTEGER) AS active_days,
  CAST(SUM(billable_tokens) AS REAL) AS billable_tokens,
  CAST(SUM(tool_calls) AS REAL) AS tool_calls,
  CAST(SUM(sessions) AS REAL) AS sessions,
  CAST(SUM(messages) AS REAL) AS messages,
  CAST(SUM(user_messages) AS REAL) AS user_messages,
  CAST(SUM(files_created) AS REAL) AS files_created,
  CAST(SUM(files_edited) AS REAL) AS files_edited,
  CAST(SUM(git_commits) AS REAL) AS git_commits,
  CAST(SUM(git_prs_created) AS REAL) AS git_prs_created
FROM user_daily
GROUP BY org_id, user_id;--> statement-breakpoint
CREATE VIEW `model_mix` AS SELECT org_id, date, model_id, model_tier, billable_tokens,
  CAST(billable_tokens * 1.0 / NULLIF(SUM(billable_tokens) OVER (PARTITION BY org_id, date), 0) AS REAL) AS share
FROM tokens_daily_by_model;--> statement-breakpoint
CREATE VIEW `readiness_latest` AS WITH ranked AS (
  SELECT org_id, repo_url, report_id, created_at, branch, commit_hash,
    ROW_NUMBER() OVER (PARTITION BY org_id, repo_url ORDER BY created_at DESC, report_id DESC) AS recency
  FROM readiness_reports
)
SELECT r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash,
  CAST(COUNT(c.criterion_id) AS INTEGER) AS criteria,
  CAST(COUNT(c.numerator) AS INTEGER) AS criteria_evaluated,
  CAST(SUM(CASE WHEN c.numerator >= c.denominator THEN 1 ELSE 0 END) AS INTEGER) AS criteria_passed,
  CAST(AVG(c.numerator * 1.0 / NULLIF(c.denominator, 0)) AS REAL) AS score
FROM ranked r
LEFT JOIN readiness_report_criteria c ON c.org_id = r.org_id AND c.report_id = r.report_id
WHERE r.recency = 1
GROUP BY r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash;--> statement-breakpoint
CREATE VIEW `coverage` AS WITH RECURSIVE calendar(date) AS (
  SELECT '2026-01-14'
  UNION ALL
  SELECT date(date, '+1 day') FROM calendar
  WHERE date < MAX(date('now', '-1 day'), (SELECT COALESCE(MAX(date), '') FROM export_units))
), streams(stream) AS (VALUES ('tokens'), ('tools'), ('activity'), ('productivity'), ('users'))

SELECT o.org_id, CAST(s.stream AS TEXT) AS stream, CAST(c.date AS TEXT) AS date,
  CAST(COALESCE(u.state, 'pending') AS TEXT) AS state, CAST(COALESCE(u.rows, 0) AS INTEGER) AS rows,
  u.last_pulled_at, u.settled_at, u.last_error, u.confirmed, u.doubted_at
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = c.date;--> statement-breakpoint
CREATE VIEW `today_so_far` AS WITH organizations AS (
  SELECT known.org_id, COALESCE(
    (SELECT date(MAX(date), '+1 day') FROM export_units u WHERE u.org_id = known.org_id AND stream = 'activity' AND state IN ('loaded', 'empty', 'quarantined')),
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
GROUP BY o.org_id, o.since;--> statement-breakpoint
CREATE INDEX `user_daily_by_user` ON `user_daily` (`org_id`,`user_id`,`date`);
