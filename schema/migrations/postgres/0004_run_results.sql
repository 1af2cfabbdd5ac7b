ALTER TABLE "export_runs" ADD COLUMN "responses" jsonb;--> statement-breakpoint
ALTER TABLE "export_runs" ADD COLUMN "completed" jsonb;