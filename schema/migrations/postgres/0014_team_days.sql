CREATE TABLE "team_daily" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"team" text COLLATE "C" NOT NULL,
	"active_users" bigint,
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
	CONSTRAINT "team_daily_key" PRIMARY KEY("org_id","date","team")
);
--> statement-breakpoint
CREATE TABLE "team_model_daily" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"team" text COLLATE "C" NOT NULL,
	"model_id" text COLLATE "C" NOT NULL,
	"active_users" bigint,
	"model_tier" text,
	"billable_tokens" double precision,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"cache_read_tokens" double precision,
	"cache_write_tokens" double precision,
	CONSTRAINT "team_model_daily_key" PRIMARY KEY("org_id","date","team","model_id")
);
