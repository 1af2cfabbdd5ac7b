CREATE TABLE "events" (
	"org_id" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"team" text COLLATE "C" NOT NULL,
	"text" text COLLATE "C" NOT NULL,
	"closed" boolean NOT NULL,
	CONSTRAINT "events_key" PRIMARY KEY("org_id","date","team","text")
);
