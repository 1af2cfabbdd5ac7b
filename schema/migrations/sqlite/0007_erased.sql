CREATE TABLE `erased` (
	`org_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject_hmac` text NOT NULL,
	`pseudonym` text NOT NULL,
	`erased_at` text NOT NULL,
	`certificate` text,
	PRIMARY KEY(`org_id`, `kind`, `subject_hmac`)
);
