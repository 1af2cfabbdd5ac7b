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
