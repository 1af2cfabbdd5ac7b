DROP INDEX "user_daily_by_user";--> statement-breakpoint
DROP INDEX "user_weekly_by_user";--> statement-breakpoint
DROP INDEX "user_monthly_by_user";