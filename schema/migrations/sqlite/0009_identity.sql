CREATE TABLE `identity` (
	`name` text PRIMARY KEY NOT NULL,
	`warehouse_id` text NOT NULL,
	`parents` text NOT NULL,
	`made_at` text NOT NULL,
	`made_by` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `acts` (
	`act_id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`done_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `archives` (
	`archive_id` text PRIMARY KEY NOT NULL,
	`place` text NOT NULL,
	`marks` text NOT NULL,
	`lost` text NOT NULL,
	`first_met_at` text NOT NULL,
	`last_met_at` text NOT NULL,
	`ended_at` text
);
