CREATE TABLE `organizations` (
	`name` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`first_seen_at` text NOT NULL
);
