CREATE TABLE `tokens_daily` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`billable_tokens` numeric,
	`input_tokens` numeric,
	`output_tokens` numeric,
	`cache_read_tokens` numeric,
	`cache_write_tokens` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tokens_daily_by_model` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`model_id` text NOT NULL,
	`model_tier` text,
	`billable_tokens` numeric,
	`input_tokens` numeric,
	`output_tokens` numeric,
	`cache_read_tokens` numeric,
	`cache_write_tokens` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `model_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tokens_daily_by_user` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`user_id` text NOT NULL,
	`user_email` text,
	`billable_tokens` numeric,
	`input_tokens` numeric,
	`output_tokens` numeric,
	`cache_read_tokens` numeric,
	`cache_write_tokens` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tokens_daily_by_user_model` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`user_id` text NOT NULL,
	`model_id` text NOT NULL,
	`model_tier` text,
	`billable_tokens` numeric,
	`input_tokens` numeric,
	`output_tokens` numeric,
	`cache_read_tokens` numeric,
	`cache_write_tokens` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `user_id`, `model_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tools_daily` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`tool_calls` numeric,
	`mcp_users_with_mcp` numeric,
	`skills_invocations` numeric,
	`slash_commands_invocations` numeric,
	`hooks_invocations` numeric,
	`web_users` numeric,
	`autonomy_ratio_avg` numeric,
	`autonomy_ratio_p50` numeric,
	`autonomy_ratio_p90` numeric,
	`tool_calls_per_session_avg` numeric,
	`user_turns_per_session_avg` numeric,
	`autonomy_auto_high` numeric,
	`autonomy_auto_medium` numeric,
	`autonomy_auto_low` numeric,
	`autonomy_manual` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tools_daily_by_hook` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`event` text NOT NULL,
	`matcher` text NOT NULL,
	`command` text NOT NULL,
	`count` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `event`, `matcher`, `command`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tools_daily_by_mcp_server` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`server` text NOT NULL,
	`invocations` numeric,
	`spellings` text,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `server`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tools_daily_by_skill` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`name` text NOT NULL,
	`count` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `name`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tools_daily_by_slash_command` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`name` text NOT NULL,
	`count` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `name`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tools_daily_by_tool` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`tool` text NOT NULL,
	`invocations` numeric,
	`is_artifact` integer,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `tool`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `activity_daily` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`daily_active_users` numeric,
	`weekly_active_users` numeric,
	`monthly_active_users` numeric,
	`sessions` numeric,
	`messages` numeric,
	`user_messages` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `activity_daily_by_client` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`client` text NOT NULL,
	`daily_active_users` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `client`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `productivity_daily` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`files_created` numeric,
	`files_edited` numeric,
	`git_commits` numeric,
	`git_prs_created` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `productivity_daily_by_extension` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`extension` text NOT NULL,
	`count` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `extension`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `productivity_daily_by_language` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`language` text NOT NULL,
	`count` numeric,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `language`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `user_daily` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`user_id` text NOT NULL,
	`user_email` text,
	`tool_calls` numeric,
	`billable_tokens` numeric,
	`primary_model` text,
	`primary_model_tier` text,
	`files_created` numeric,
	`files_edited` numeric,
	`git_commits` numeric,
	`git_prs_created` numeric,
	`mcp_calls` numeric,
	`skill_calls` numeric,
	`slash_commands` numeric,
	`hooks` numeric,
	`sessions` numeric,
	`messages` numeric,
	`user_messages` numeric,
	`assistant_messages` numeric,
	`autonomy_ratio` numeric,
	`delegation_level` text,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `user_daily_languages` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`user_id` text NOT NULL,
	`language` text NOT NULL,
	`extra` text,
	PRIMARY KEY(`org_id`, `date`, `user_id`, `language`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `readiness_report_apps` (
	`org_id` text NOT NULL,
	`report_id` text NOT NULL,
	`app_path` text NOT NULL,
	`description` text,
	`extra` text,
	PRIMARY KEY(`org_id`, `report_id`, `app_path`)
);
--> statement-breakpoint
CREATE TABLE `readiness_report_criteria` (
	`org_id` text NOT NULL,
	`report_id` text NOT NULL,
	`criterion_id` text NOT NULL,
	`numerator` numeric,
	`denominator` numeric,
	`rationale` text,
	`extra` text,
	PRIMARY KEY(`org_id`, `report_id`, `criterion_id`)
);
--> statement-breakpoint
CREATE TABLE `readiness_reports` (
	`org_id` text NOT NULL,
	`report_id` text NOT NULL,
	`created_at` text NOT NULL,
	`repo_url` text NOT NULL,
	`commit_hash` text,
	`branch` text,
	`has_local_changes` integer,
	`has_non_remote_commits` integer,
	`model_id` text,
	`model_reasoning_effort` text,
	`droid_version` text,
	`extra` text,
	PRIMARY KEY(`org_id`, `report_id`)
);
--> statement-breakpoint
CREATE TABLE `hook_events` (
	`org_id` text NOT NULL,
	`event_id` text NOT NULL,
	`received_at` text NOT NULL,
	`hook_event_name` text,
	`session_id` text,
	`cwd` text,
	`message` text,
	`reason` text,
	`payload` text NOT NULL,
	PRIMARY KEY(`org_id`, `event_id`)
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`org_id` text NOT NULL,
	`session_id` text NOT NULL,
	`title` text,
	`status` text NOT NULL,
	`message_count` integer,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`completed_at` text,
	`computer_id` text,
	`session_settings` text,
	`extra` text,
	PRIMARY KEY(`org_id`, `session_id`)
);
--> statement-breakpoint
CREATE TABLE `export_runs` (
	`run_id` text PRIMARY KEY NOT NULL,
	`org_id` text,
	`command` text NOT NULL,
	`started_at` text NOT NULL,
	`ended_at` text,
	`exit_code` integer,
	`units_done` integer NOT NULL,
	`units_failed` integer NOT NULL,
	`rows_written` integer NOT NULL,
	`requests` integer NOT NULL,
	`retries` integer NOT NULL,
	`versions` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `export_units` (
	`org_id` text NOT NULL,
	`stream` text NOT NULL,
	`date` text NOT NULL,
	`state` text NOT NULL,
	`rows` integer NOT NULL,
	`content_sha256` text,
	`attempts` integer NOT NULL,
	`requests` integer NOT NULL,
	`first_loaded_at` text,
	`last_pulled_at` text,
	`changed_at` text,
	`settled_at` text,
	`cursor` text,
	`last_error` text,
	PRIMARY KEY(`org_id`, `stream`, `date`)
);
--> statement-breakpoint
CREATE TABLE `quarantine` (
	`org_id` text NOT NULL,
	`stream` text NOT NULL,
	`date` text NOT NULL,
	`record_sha256` text NOT NULL,
	`reason` text NOT NULL,
	`path` text NOT NULL,
	`record` text NOT NULL,
	`first_seen_at` text NOT NULL,
	PRIMARY KEY(`org_id`, `stream`, `date`, `record_sha256`)
);
--> statement-breakpoint
CREATE TABLE `restatements` (
	`org_id` text NOT NULL,
	`stream` text NOT NULL,
	`date` text NOT NULL,
	`detected_at` text NOT NULL,
	`before` text NOT NULL,
	`after` text NOT NULL,
	PRIMARY KEY(`org_id`, `stream`, `date`, `detected_at`)
);
--> statement-breakpoint
CREATE TABLE `schema_drift` (
	`org_id` text NOT NULL,
	`stream` text NOT NULL,
	`path` text NOT NULL,
	`kind` text NOT NULL,
	`sample` text,
	`first_seen_on` text NOT NULL,
	PRIMARY KEY(`org_id`, `stream`, `path`)
);
--> statement-breakpoint
CREATE VIEW `daily_overview` AS SELECT d.org_id, d.date,
  t.billable_tokens, t.input_tokens, t.output_tokens,
  a.daily_active_users, a.weekly_active_users, a.monthly_active_users,
  a.sessions, a.messages, a.user_messages,
  o.tool_calls, o.skills_invocations, o.slash_commands_invocations, o.hooks_invocations,
  p.files_created, p.files_edited, p.git_commits, p.git_prs_created,
  (SELECT COUNT(*) FROM user_daily u WHERE u.org_id = d.org_id AND u.date = d.date) AS users,
  d.streams_held,
  d.is_settled
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
CREATE VIEW `users` AS WITH emails AS (
  SELECT org_id, user_id, user_email,
    ROW_NUMBER() OVER (PARTITION BY org_id, user_id ORDER BY date DESC) AS recency
  FROM user_daily WHERE user_email IS NOT NULL
)
SELECT u.org_id, u.user_id, e.user_email,
  MIN(u.date) AS first_active_on, MAX(u.date) AS last_active_on, COUNT(*) AS active_days,
  SUM(u.billable_tokens) AS billable_tokens, SUM(u.tool_calls) AS tool_calls,
  SUM(u.sessions) AS sessions, SUM(u.messages) AS messages, SUM(u.user_messages) AS user_messages,
  SUM(u.files_created) AS files_created, SUM(u.files_edited) AS files_edited,
  SUM(u.git_commits) AS git_commits, SUM(u.git_prs_created) AS git_prs_created
FROM user_daily u
LEFT JOIN emails e ON e.org_id = u.org_id AND e.user_id = u.user_id AND e.recency = 1
GROUP BY u.org_id, u.user_id, e.user_email;--> statement-breakpoint
CREATE VIEW `model_mix` AS SELECT org_id, date, model_id, model_tier, billable_tokens,
  billable_tokens * 1.0 / NULLIF(SUM(billable_tokens) OVER (PARTITION BY org_id, date), 0) AS share
FROM tokens_daily_by_model;--> statement-breakpoint
CREATE VIEW `readiness_latest` AS WITH ranked AS (
  SELECT org_id, repo_url, report_id, created_at, branch, commit_hash,
    ROW_NUMBER() OVER (PARTITION BY org_id, repo_url ORDER BY created_at DESC, report_id DESC) AS recency
  FROM readiness_reports
)
SELECT r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash,
  COUNT(c.criterion_id) AS criteria,
  COUNT(c.numerator) AS criteria_evaluated,
  SUM(CASE WHEN c.numerator >= c.denominator THEN 1 ELSE 0 END) AS criteria_passed,
  AVG(c.numerator * 1.0 / NULLIF(c.denominator, 0)) AS score
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

SELECT o.org_id, s.stream, c.date,
  COALESCE(u.state, 'pending') AS state, COALESCE(u.rows, 0) AS rows,
  u.last_pulled_at, u.settled_at, u.last_error
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = c.date;