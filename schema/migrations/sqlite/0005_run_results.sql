ALTER TABLE `export_runs` ADD `responses` text;--> statement-breakpoint
ALTER TABLE `export_runs` ADD `completed` text;