CREATE TABLE "export_state" (
	"org_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"value" json NOT NULL,
	CONSTRAINT "export_state_key" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
DROP VIEW "coverage";--> statement-breakpoint
ALTER TABLE "export_units" ADD COLUMN "answers_sha256" text;--> statement-breakpoint
ALTER TABLE "export_units" ADD COLUMN "doubted_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "export_units" ADD COLUMN "doubt" jsonb;--> statement-breakpoint
ALTER TABLE "export_units" ADD COLUMN "confirmed" text;--> statement-breakpoint
ALTER TABLE "export_units" ADD COLUMN "run_id" text;--> statement-breakpoint
ALTER TABLE "export_units" ADD COLUMN "active_users" bigint;--> statement-breakpoint
ALTER TABLE "export_units" ADD COLUMN "watch" jsonb;--> statement-breakpoint
UPDATE "export_units" SET "answers_sha256" = "cursor" ->> 'answersSha256', "cursor" = NULL WHERE "stream" <> 'readiness';--> statement-breakpoint
UPDATE "export_units" u SET "active_users" = floor(a."daily_active_users")::bigint FROM "activity_daily" a
  WHERE u."stream" = 'activity' AND a."org_id" = u."org_id" AND u."date" = to_char(a."date", 'YYYY-MM-DD');--> statement-breakpoint
UPDATE "export_units" SET "confirmed" = 'data' WHERE "settled_at" IS NOT NULL AND "state" = 'loaded';--> statement-breakpoint
UPDATE "export_units" u SET "confirmed" = 'agreed' WHERE u."settled_at" IS NOT NULL AND u."state" = 'empty' AND NOT EXISTS (
  SELECT 1 FROM "export_units" o WHERE o."org_id" = u."org_id" AND o."date" = u."date" AND o."state" <> 'empty'
);--> statement-breakpoint
UPDATE "export_units" SET "settled_at" = NULL, "state" = 'awaiting' WHERE "state" = 'empty' AND "confirmed" IS NULL AND "stream" <> 'readiness';--> statement-breakpoint
CREATE VIEW "coverage" AS (WITH calendar(date) AS (
  SELECT CAST(d AS date) FROM generate_series(
    DATE '2026-01-14',
    GREATEST((now() AT TIME ZONE 'UTC')::date - 1, (SELECT MAX(NULLIF(date, ''))::date FROM export_units)),
    INTERVAL '1 day') AS d
), streams(stream) AS (VALUES ('tokens'), ('tools'), ('activity'), ('productivity'), ('users'))

SELECT o.org_id, s.stream, c.date,
  COALESCE(u.state, 'pending') AS state, COALESCE(u.rows, 0) AS rows,
  u.last_pulled_at, u.settled_at, u.last_error, u.confirmed, u.doubted_at
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = to_char(c.date, 'YYYY-MM-DD'));