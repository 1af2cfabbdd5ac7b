CREATE TABLE `published_weeks` (
	`org_id` text NOT NULL,
	`week_start` text NOT NULL,
	`dimension` text NOT NULL,
	`block` text NOT NULL,
	`metric` text NOT NULL,
	`people` integer,
	`value` real,
	PRIMARY KEY(`org_id`, `week_start`, `dimension`, `block`, `metric`)
);
