ALTER TABLE "quarantine" ADD COLUMN "accepted_at" timestamp with time zone;--> statement-breakpoint
-- Replaced in place, which keeps the rights that others were given on it. The other views read as before.
CREATE OR REPLACE VIEW "users" AS (SELECT org_id, user_id, substr(MAX(CASE WHEN user_email IS NOT NULL THEN (to_char(date, 'YYYY-MM-DD') || user_email) COLLATE "C" END), 11) COLLATE "default" AS user_email,
  MIN(date) AS first_active_on, MAX(date) AS last_active_on,
  COUNT(*) AS active_days,
  SUM(billable_tokens) AS billable_tokens,
  SUM(tool_calls) AS tool_calls,
  SUM(sessions) AS sessions,
  SUM(messages) AS messages,
  SUM(user_messages) AS user_messages,
  SUM(files_created) AS files_created,
  SUM(files_edited) AS files_edited,
  SUM(git_commits) AS git_commits,
  SUM(git_prs_created) AS git_prs_created
FROM user_daily
GROUP BY org_id, user_id);--> statement-breakpoint
CREATE INDEX "user_daily_by_user" ON "user_daily" USING btree ("org_id","user_id","date");
