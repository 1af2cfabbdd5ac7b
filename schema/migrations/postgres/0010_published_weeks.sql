CREATE TABLE "published_weeks" (
	"org_id" text COLLATE "C" NOT NULL,
	"week_start" date NOT NULL,
	"dimension" text COLLATE "C" NOT NULL,
	"block" text COLLATE "C" NOT NULL,
	"metric" text COLLATE "C" NOT NULL,
	"people" bigint,
	"value" double precision,
	CONSTRAINT "published_weeks_key" PRIMARY KEY("org_id","week_start","dimension","block","metric")
);
