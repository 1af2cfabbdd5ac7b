CREATE TABLE `export_state` (
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`org_id`, `name`)
);
--> statement-breakpoint
ALTER TABLE `export_units` ADD `answers_sha256` text;--> statement-breakpoint
ALTER TABLE `export_units` ADD `doubted_at` text;--> statement-breakpoint
ALTER TABLE `export_units` ADD `doubt` text;--> statement-breakpoint
ALTER TABLE `export_units` ADD `confirmed` text;--> statement-breakpoint
ALTER TABLE `export_units` ADD `run_id` text;--> statement-breakpoint
ALTER TABLE `export_units` ADD `active_users` integer;--> statement-breakpoint
ALTER TABLE `export_units` ADD `watch` text;--> statement-breakpoint
UPDATE `export_units` SET `answers_sha256` = CASE WHEN json_valid(`cursor`) THEN json_extract(`cursor`, '$.answersSha256') END, `cursor` = NULL WHERE `stream` <> 'readiness';--> statement-breakpoint
UPDATE `export_units` SET `active_users` = (
  SELECT CAST(a.`daily_active_users` AS INTEGER) FROM `activity_daily` a WHERE a.`org_id` = `export_units`.`org_id` AND a.`date` = `export_units`.`date`
) WHERE `stream` = 'activity';--> statement-breakpoint
UPDATE `export_units` SET `confirmed` = 'data' WHERE `settled_at` IS NOT NULL AND `state` = 'loaded';--> statement-breakpoint
UPDATE `export_units` SET `confirmed` = 'agreed' WHERE `settled_at` IS NOT NULL AND `state` = 'empty' AND NOT EXISTS (
  SELECT 1 FROM `export_units` o WHERE o.`org_id` = `export_units`.`org_id` AND o.`date` = `export_units`.`date` AND o.`state` <> 'empty'
);--> statement-breakpoint
UPDATE `export_units` SET `settled_at` = NULL, `state` = 'awaiting' WHERE `state` = 'empty' AND `confirmed` IS NULL AND `stream` <> 'readiness';--> statement-breakpoint
DROP VIEW `coverage`;--> statement-breakpoint
CREATE VIEW `coverage` AS WITH RECURSIVE calendar(date) AS (
  SELECT '2026-01-14'
  UNION ALL
  SELECT date(date, '+1 day') FROM calendar
  WHERE date < MAX(date('now', '-1 day'), (SELECT COALESCE(MAX(date), '') FROM export_units))
), streams(stream) AS (VALUES ('tokens'), ('tools'), ('activity'), ('productivity'), ('users'))

SELECT o.org_id, s.stream, c.date,
  COALESCE(u.state, 'pending') AS state, COALESCE(u.rows, 0) AS rows,
  u.last_pulled_at, u.settled_at, u.last_error, u.confirmed, u.doubted_at
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = c.date;