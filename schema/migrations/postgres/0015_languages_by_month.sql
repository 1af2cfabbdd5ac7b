CREATE TABLE "user_monthly_languages" (
	"org_id" text COLLATE "C" NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"language" text COLLATE "C" NOT NULL,
	"first_active_on" date NOT NULL,
	"last_active_on" date NOT NULL,
	"active_days" bigint NOT NULL,
	CONSTRAINT "user_monthly_languages_key" PRIMARY KEY("org_id","month","user_id","language")
);
--> statement-breakpoint
DELETE FROM rollup_marks WHERE rollup = 'monthly';
