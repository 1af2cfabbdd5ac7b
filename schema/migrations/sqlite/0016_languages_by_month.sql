CREATE TABLE `user_monthly_languages` (
	`org_id` text NOT NULL,
	`month` text NOT NULL,
	`user_id` text NOT NULL,
	`language` text NOT NULL,
	`first_active_on` text NOT NULL,
	`last_active_on` text NOT NULL,
	`active_days` integer NOT NULL,
	PRIMARY KEY(`org_id`, `month`, `user_id`, `language`)
) WITHOUT ROWID;
--> statement-breakpoint
DELETE FROM rollup_marks WHERE rollup = 'monthly';
