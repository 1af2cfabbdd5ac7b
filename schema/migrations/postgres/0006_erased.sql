CREATE TABLE "erased" (
	"org_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"subject_hmac" text COLLATE "C" NOT NULL,
	"pseudonym" text NOT NULL,
	"erased_at" timestamp with time zone NOT NULL,
	"certificate" jsonb,
	CONSTRAINT "erased_key" PRIMARY KEY("org_id","kind","subject_hmac")
);
