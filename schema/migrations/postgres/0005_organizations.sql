CREATE TABLE "organizations" (
	"name" text COLLATE "C" NOT NULL,
	"org_id" text NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "organizations_key" PRIMARY KEY("name")
);
