CREATE TABLE `team_daily` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`team` text NOT NULL,
	`active_users` integer,
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
	PRIMARY KEY(`org_id`, `date`, `team`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `team_model_daily` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`team` text NOT NULL,
	`model_id` text NOT NULL,
	`active_users` integer,
	`model_tier` text,
	`billable_tokens` real,
	`input_tokens` real,
	`output_tokens` real,
	`cache_read_tokens` real,
	`cache_write_tokens` real,
	PRIMARY KEY(`org_id`, `date`, `team`, `model_id`)
) WITHOUT ROWID;
