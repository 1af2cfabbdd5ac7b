CREATE TABLE "identity" (
	"name" text COLLATE "C" NOT NULL,
	"warehouse_id" text NOT NULL,
	"parents" json NOT NULL,
	"made_at" timestamp with time zone NOT NULL,
	"made_by" text NOT NULL,
	CONSTRAINT "identity_key" PRIMARY KEY("name")
);
--> statement-breakpoint
CREATE TABLE "acts" (
	"act_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"done_at" timestamp with time zone NOT NULL,
	CONSTRAINT "acts_key" PRIMARY KEY("act_id")
);
--> statement-breakpoint
CREATE TABLE "archives" (
	"archive_id" text COLLATE "C" NOT NULL,
	"place" text NOT NULL,
	"marks" json NOT NULL,
	"lost" json NOT NULL,
	"first_met_at" timestamp with time zone NOT NULL,
	"last_met_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "archives_key" PRIMARY KEY("archive_id")
);
