CREATE TABLE `events` (
	`org_id` text NOT NULL,
	`date` text NOT NULL,
	`team` text NOT NULL,
	`text` text NOT NULL,
	`closed` integer NOT NULL,
	PRIMARY KEY(`org_id`, `date`, `team`, `text`)
);
