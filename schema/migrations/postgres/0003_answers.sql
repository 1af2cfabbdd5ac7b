DROP VIEW "users";--> statement-breakpoint
CREATE TABLE "people" (
	"org_id" text COLLATE "C" NOT NULL,
	"person" text COLLATE "C" NOT NULL,
	"valid_from" date NOT NULL,
	"valid_to" date,
	"name" text,
	"team" text,
	"department" text,
	"cost_center" text,
	"manager_email" text,
	CONSTRAINT "people_key" PRIMARY KEY("org_id","person","valid_from")
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"org_id" text COLLATE "C" NOT NULL,
	"valid_from" date NOT NULL,
	"valid_to" date,
	"currency" text NOT NULL,
	"price_per_million" double precision NOT NULL,
	CONSTRAINT "prices_key" PRIMARY KEY("org_id","valid_from")
);
--> statement-breakpoint
CREATE TABLE "budgets" (
	"org_id" text COLLATE "C" NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"team" text COLLATE "C" NOT NULL,
	"amount" double precision NOT NULL,
	"currency" text NOT NULL,
	CONSTRAINT "budgets_key" PRIMARY KEY("org_id","month","team")
);
--> statement-breakpoint
CREATE TABLE "dates" (
	"date" date NOT NULL,
	"iso_year" bigint NOT NULL,
	"iso_week" bigint NOT NULL,
	"week_start" date NOT NULL,
	"month" text NOT NULL,
	"quarter" text NOT NULL,
	"weekday" bigint NOT NULL,
	"is_weekend" bigint NOT NULL,
	CONSTRAINT "dates_key" PRIMARY KEY("date")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"org_id" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"user_email" text,
	"first_active_on" date NOT NULL,
	"last_active_on" date NOT NULL,
	"active_days" bigint NOT NULL,
	"billable_tokens" double precision,
	"tool_calls" double precision,
	"sessions" double precision,
	"messages" double precision,
	"user_messages" double precision,
	"files_created" double precision,
	"files_edited" double precision,
	"git_commits" double precision,
	"git_prs_created" double precision,
	"team" text,
	"active_days_30" bigint NOT NULL,
	CONSTRAINT "users_key" PRIMARY KEY("org_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "user_weekly" (
	"org_id" text COLLATE "C" NOT NULL,
	"week_start" date NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"user_email" text,
	"first_active_on" date NOT NULL,
	"last_active_on" date NOT NULL,
	"active_days" bigint NOT NULL,
	"billable_tokens" double precision,
	"tool_calls" double precision,
	"sessions" double precision,
	"messages" double precision,
	"user_messages" double precision,
	"assistant_messages" double precision,
	"files_created" double precision,
	"files_edited" double precision,
	"git_commits" double precision,
	"git_prs_created" double precision,
	"mcp_calls" double precision,
	"skill_calls" double precision,
	"slash_commands" double precision,
	"hooks" double precision,
	"thinking_tokens" double precision,
	CONSTRAINT "user_weekly_key" PRIMARY KEY("org_id","week_start","user_id")
);
--> statement-breakpoint
CREATE TABLE "user_monthly" (
	"org_id" text COLLATE "C" NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"user_email" text,
	"first_active_on" date NOT NULL,
	"last_active_on" date NOT NULL,
	"active_days" bigint NOT NULL,
	"billable_tokens" double precision,
	"tool_calls" double precision,
	"sessions" double precision,
	"messages" double precision,
	"user_messages" double precision,
	"assistant_messages" double precision,
	"files_created" double precision,
	"files_edited" double precision,
	"git_commits" double precision,
	"git_prs_created" double precision,
	"mcp_calls" double precision,
	"skill_calls" double precision,
	"slash_commands" double precision,
	"hooks" double precision,
	"thinking_tokens" double precision,
	CONSTRAINT "user_monthly_key" PRIMARY KEY("org_id","month","user_id")
);
--> statement-breakpoint
CREATE TABLE "org_monthly" (
	"org_id" text COLLATE "C" NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"active_users" bigint,
	"new_users" bigint,
	"user_days" bigint,
	"billable_tokens" double precision,
	"tool_calls" double precision,
	"sessions" double precision,
	"messages" double precision,
	"user_messages" double precision,
	"assistant_messages" double precision,
	"files_created" double precision,
	"files_edited" double precision,
	"git_commits" double precision,
	"git_prs_created" double precision,
	"mcp_calls" double precision,
	"skill_calls" double precision,
	"slash_commands" double precision,
	"hooks" double precision,
	"thinking_tokens" double precision,
	CONSTRAINT "org_monthly_key" PRIMARY KEY("org_id","month")
);
--> statement-breakpoint
CREATE TABLE "user_teams" (
	"org_id" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"valid_from" date NOT NULL,
	"valid_to" date NOT NULL,
	"person" text NOT NULL,
	"team" text,
	"department" text,
	"cost_center" text,
	CONSTRAINT "user_teams_key" PRIMARY KEY("org_id","user_id","valid_from")
);
--> statement-breakpoint
CREATE TABLE "user_emails" (
	"org_id" text COLLATE "C" NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"user_email" text COLLATE "C" NOT NULL,
	"last_seen_on" date NOT NULL,
	CONSTRAINT "user_emails_key" PRIMARY KEY("org_id","month","user_id","user_email")
);
--> statement-breakpoint
CREATE TABLE "rollup_marks" (
	"org_id" text COLLATE "C" NOT NULL,
	"rollup" text COLLATE "C" NOT NULL,
	"date" text COLLATE "C" NOT NULL,
	"content_sha256" text NOT NULL,
	CONSTRAINT "rollup_marks_key" PRIMARY KEY("org_id","rollup","date")
);
--> statement-breakpoint
CREATE INDEX "user_weekly_by_user" ON "user_weekly" USING btree ("org_id","user_id","week_start");--> statement-breakpoint
CREATE INDEX "user_monthly_by_user" ON "user_monthly" USING btree ("org_id","user_id","month");