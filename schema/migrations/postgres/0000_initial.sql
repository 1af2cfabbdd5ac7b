CREATE TABLE "tokens_daily" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"billable_tokens" double precision,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"cache_read_tokens" double precision,
	"cache_write_tokens" double precision,
	"extra" jsonb,
	CONSTRAINT "tokens_daily_key" PRIMARY KEY("org_id","date")
);
--> statement-breakpoint
CREATE TABLE "tokens_daily_by_model" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"model_id" text COLLATE "C" NOT NULL,
	"model_tier" text,
	"billable_tokens" double precision,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"cache_read_tokens" double precision,
	"cache_write_tokens" double precision,
	"extra" jsonb,
	CONSTRAINT "tokens_daily_by_model_key" PRIMARY KEY("org_id","date","model_id")
);
--> statement-breakpoint
CREATE TABLE "tokens_daily_by_user" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"user_email" text,
	"billable_tokens" double precision,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"cache_read_tokens" double precision,
	"cache_write_tokens" double precision,
	"extra" jsonb,
	CONSTRAINT "tokens_daily_by_user_key" PRIMARY KEY("org_id","date","user_id")
);
--> statement-breakpoint
CREATE TABLE "tokens_daily_by_user_model" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"model_id" text COLLATE "C" NOT NULL,
	"model_tier" text,
	"billable_tokens" double precision,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"cache_read_tokens" double precision,
	"cache_write_tokens" double precision,
	"extra" jsonb,
	CONSTRAINT "tokens_daily_by_user_model_key" PRIMARY KEY("org_id","date","user_id","model_id")
);
--> statement-breakpoint
CREATE TABLE "tools_daily" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"tool_calls" double precision,
	"mcp_users_with_mcp" double precision,
	"skills_invocations" double precision,
	"slash_commands_invocations" double precision,
	"hooks_invocations" double precision,
	"web_users" double precision,
	"autonomy_ratio_avg" double precision,
	"autonomy_ratio_p50" double precision,
	"autonomy_ratio_p90" double precision,
	"tool_calls_per_session_avg" double precision,
	"user_turns_per_session_avg" double precision,
	"autonomy_auto_high" double precision,
	"autonomy_auto_medium" double precision,
	"autonomy_auto_low" double precision,
	"autonomy_manual" double precision,
	"extra" jsonb,
	CONSTRAINT "tools_daily_key" PRIMARY KEY("org_id","date")
);
--> statement-breakpoint
CREATE TABLE "tools_daily_by_tool" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"tool" text COLLATE "C" NOT NULL,
	"invocations" double precision,
	"is_artifact" boolean,
	"extra" jsonb,
	CONSTRAINT "tools_daily_by_tool_key" PRIMARY KEY("org_id","date","tool")
);
--> statement-breakpoint
CREATE TABLE "tools_daily_by_mcp_server" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"server" text COLLATE "C" NOT NULL,
	"invocations" double precision,
	"spellings" jsonb,
	"extra" jsonb,
	CONSTRAINT "tools_daily_by_mcp_server_key" PRIMARY KEY("org_id","date","server")
);
--> statement-breakpoint
CREATE TABLE "tools_daily_by_skill" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"count" double precision,
	"extra" jsonb,
	CONSTRAINT "tools_daily_by_skill_key" PRIMARY KEY("org_id","date","name")
);
--> statement-breakpoint
CREATE TABLE "tools_daily_by_slash_command" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"count" double precision,
	"extra" jsonb,
	CONSTRAINT "tools_daily_by_slash_command_key" PRIMARY KEY("org_id","date","name")
);
--> statement-breakpoint
CREATE TABLE "tools_daily_by_hook" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"event" text COLLATE "C" NOT NULL,
	"matcher" text COLLATE "C" NOT NULL,
	"command" text COLLATE "C" NOT NULL,
	"count" double precision,
	"extra" jsonb,
	CONSTRAINT "tools_daily_by_hook_key" PRIMARY KEY("org_id","date","event","matcher","command")
);
--> statement-breakpoint
CREATE TABLE "activity_daily" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"daily_active_users" double precision,
	"weekly_active_users" double precision,
	"monthly_active_users" double precision,
	"sessions" double precision,
	"messages" double precision,
	"user_messages" double precision,
	"extra" jsonb,
	CONSTRAINT "activity_daily_key" PRIMARY KEY("org_id","date")
);
--> statement-breakpoint
CREATE TABLE "activity_daily_by_client" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"daily_active_users" double precision,
	"extra" jsonb,
	CONSTRAINT "activity_daily_by_client_key" PRIMARY KEY("org_id","date","client")
);
--> statement-breakpoint
CREATE TABLE "productivity_daily" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"files_created" double precision,
	"files_edited" double precision,
	"git_commits" double precision,
	"git_prs_created" double precision,
	"extra" jsonb,
	CONSTRAINT "productivity_daily_key" PRIMARY KEY("org_id","date")
);
--> statement-breakpoint
CREATE TABLE "productivity_daily_by_extension" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"extension" text COLLATE "C" NOT NULL,
	"count" double precision,
	"extra" jsonb,
	CONSTRAINT "productivity_daily_by_extension_key" PRIMARY KEY("org_id","date","extension")
);
--> statement-breakpoint
CREATE TABLE "productivity_daily_by_language" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"language" text COLLATE "C" NOT NULL,
	"count" double precision,
	"extra" jsonb,
	CONSTRAINT "productivity_daily_by_language_key" PRIMARY KEY("org_id","date","language")
);
--> statement-breakpoint
CREATE TABLE "user_daily" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"user_email" text,
	"tool_calls" double precision,
	"billable_tokens" double precision,
	"primary_model" text,
	"primary_model_tier" text,
	"files_created" double precision,
	"files_edited" double precision,
	"git_commits" double precision,
	"git_prs_created" double precision,
	"mcp_calls" double precision,
	"skill_calls" double precision,
	"slash_commands" double precision,
	"hooks" double precision,
	"sessions" double precision,
	"messages" double precision,
	"user_messages" double precision,
	"assistant_messages" double precision,
	"autonomy_ratio" double precision,
	"delegation_level" text,
	"extra" jsonb,
	CONSTRAINT "user_daily_key" PRIMARY KEY("org_id","date","user_id")
);
--> statement-breakpoint
CREATE TABLE "user_daily_languages" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"language" text COLLATE "C" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "user_daily_languages_key" PRIMARY KEY("org_id","date","user_id","language")
);
--> statement-breakpoint
CREATE TABLE "readiness_reports" (
	"org_id" text COLLATE "C" NOT NULL,
	"report_id" text COLLATE "C" NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"repo_url" text NOT NULL,
	"commit_hash" text,
	"branch" text,
	"has_local_changes" boolean,
	"has_non_remote_commits" boolean,
	"model_id" text,
	"model_reasoning_effort" text,
	"droid_version" text,
	"extra" jsonb,
	CONSTRAINT "readiness_reports_key" PRIMARY KEY("org_id","report_id")
);
--> statement-breakpoint
CREATE TABLE "readiness_report_apps" (
	"org_id" text COLLATE "C" NOT NULL,
	"report_id" text COLLATE "C" NOT NULL,
	"app_path" text COLLATE "C" NOT NULL,
	"description" text,
	"extra" jsonb,
	CONSTRAINT "readiness_report_apps_key" PRIMARY KEY("org_id","report_id","app_path")
);
--> statement-breakpoint
CREATE TABLE "readiness_report_criteria" (
	"org_id" text COLLATE "C" NOT NULL,
	"report_id" text COLLATE "C" NOT NULL,
	"criterion_id" text COLLATE "C" NOT NULL,
	"numerator" double precision,
	"denominator" double precision,
	"rationale" text,
	"extra" jsonb,
	CONSTRAINT "readiness_report_criteria_key" PRIMARY KEY("org_id","report_id","criterion_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"org_id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"title" text,
	"status" text NOT NULL,
	"message_count" bigint,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"completed_at" timestamp with time zone,
	"computer_id" text,
	"session_settings" jsonb,
	"extra" jsonb,
	CONSTRAINT "sessions_key" PRIMARY KEY("org_id","session_id")
);
--> statement-breakpoint
CREATE TABLE "hook_events" (
	"org_id" text COLLATE "C" NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"hook_event_name" text,
	"session_id" text,
	"cwd" text,
	"message" text,
	"reason" text,
	"payload" json NOT NULL,
	CONSTRAINT "hook_events_key" PRIMARY KEY("org_id","event_id")
);
--> statement-breakpoint
CREATE TABLE "export_units" (
	"org_id" text COLLATE "C" NOT NULL,
	"stream" text COLLATE "C" NOT NULL,
	"date" text COLLATE "C" NOT NULL,
	"state" text NOT NULL,
	"rows" bigint NOT NULL,
	"content_sha256" text,
	"attempts" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"first_loaded_at" timestamp with time zone,
	"last_pulled_at" timestamp with time zone,
	"changed_at" timestamp with time zone,
	"settled_at" timestamp with time zone,
	"cursor" jsonb,
	"last_error" text,
	CONSTRAINT "export_units_key" PRIMARY KEY("org_id","stream","date")
);
--> statement-breakpoint
CREATE TABLE "export_runs" (
	"run_id" text COLLATE "C" NOT NULL,
	"org_id" text,
	"command" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"exit_code" bigint,
	"units_done" bigint NOT NULL,
	"units_failed" bigint NOT NULL,
	"rows_written" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"retries" bigint NOT NULL,
	"versions" json NOT NULL,
	CONSTRAINT "export_runs_key" PRIMARY KEY("run_id")
);
--> statement-breakpoint
CREATE TABLE "restatements" (
	"org_id" text COLLATE "C" NOT NULL,
	"stream" text COLLATE "C" NOT NULL,
	"date" text COLLATE "C" NOT NULL,
	"detected_at" timestamp with time zone NOT NULL,
	"before" json NOT NULL,
	"after" json NOT NULL,
	CONSTRAINT "restatements_key" PRIMARY KEY("org_id","stream","date","detected_at")
);
--> statement-breakpoint
CREATE TABLE "quarantine" (
	"org_id" text COLLATE "C" NOT NULL,
	"stream" text COLLATE "C" NOT NULL,
	"date" text COLLATE "C" NOT NULL,
	"record_sha256" text COLLATE "C" NOT NULL,
	"reason" text NOT NULL,
	"path" text NOT NULL,
	"record" json NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "quarantine_key" PRIMARY KEY("org_id","stream","date","record_sha256")
);
--> statement-breakpoint
CREATE TABLE "schema_drift" (
	"org_id" text COLLATE "C" NOT NULL,
	"stream" text COLLATE "C" NOT NULL,
	"path" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"sample" text,
	"first_seen_on" date NOT NULL,
	CONSTRAINT "schema_drift_key" PRIMARY KEY("org_id","stream","path")
);
--> statement-breakpoint
CREATE VIEW "daily_overview" AS (SELECT d.org_id, d.date,
  t.billable_tokens, t.input_tokens, t.output_tokens,
  a.daily_active_users, a.weekly_active_users, a.monthly_active_users,
  a.sessions, a.messages, a.user_messages,
  o.tool_calls, o.skills_invocations, o.slash_commands_invocations, o.hooks_invocations,
  p.files_created, p.files_edited, p.git_commits, p.git_prs_created,
  (SELECT COUNT(*) FROM user_daily u WHERE u.org_id = d.org_id AND u.date = d.date) AS users,
  d.streams_held,
  d.is_settled
FROM (
  SELECT org_id, CAST(date AS date) AS date,
    SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) AS streams_held,
    CASE WHEN COUNT(settled_at) = 5 THEN true ELSE false END AS is_settled
  FROM export_units WHERE date <> '' GROUP BY org_id, date
) d
LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date);--> statement-breakpoint
CREATE VIEW "users" AS (WITH emails AS (
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
GROUP BY u.org_id, u.user_id, e.user_email);--> statement-breakpoint
CREATE VIEW "model_mix" AS (SELECT org_id, date, model_id, model_tier, billable_tokens,
  billable_tokens * 1.0 / NULLIF(SUM(billable_tokens) OVER (PARTITION BY org_id, date), 0) AS share
FROM tokens_daily_by_model);--> statement-breakpoint
CREATE VIEW "readiness_latest" AS (WITH ranked AS (
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
GROUP BY r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash);--> statement-breakpoint
CREATE VIEW "coverage" AS (WITH calendar(date) AS (
  SELECT CAST(d AS date) FROM generate_series(
    DATE '2026-01-14',
    GREATEST((now() AT TIME ZONE 'UTC')::date - 1, (SELECT MAX(NULLIF(date, ''))::date FROM export_units)),
    INTERVAL '1 day') AS d
), streams(stream) AS (VALUES ('tokens'), ('tools'), ('activity'), ('productivity'), ('users'))

SELECT o.org_id, s.stream, c.date,
  COALESCE(u.state, 'pending') AS state, COALESCE(u.rows, 0) AS rows,
  u.last_pulled_at, u.settled_at, u.last_error
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = to_char(c.date, 'YYYY-MM-DD'));--> statement-breakpoint
CREATE VIEW "today_so_far" AS (WITH organizations AS (
  SELECT known.org_id, COALESCE(CAST(e.last_day AS date) + 1, DATE '2026-01-14') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
  LEFT JOIN (SELECT org_id, MAX(date) AS last_day FROM export_units WHERE stream = 'activity' AND state IN ('loaded', 'empty', 'quarantined') GROUP BY org_id) e
    ON e.org_id = known.org_id
)

SELECT o.org_id, o.since,
  COUNT(DISTINCT h.session_id) AS sessions,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0) AS stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0) AS subagent_stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0) AS notifications,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0) AS session_ends,
  COUNT(h.event_id) AS events,
  MAX(h.received_at) AS last_event_at
FROM organizations o
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= (CAST(o.since AS timestamp) AT TIME ZONE 'UTC')
GROUP BY o.org_id, o.since);