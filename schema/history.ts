/** The table that records the migrations of a PostgreSQL warehouse. It does not belong to the content. */
export const HISTORY_TABLE = '__drizzle_migrations';

/** Creates the table of migrations if it does not exist. */
export const CREATE_HISTORY = `CREATE TABLE IF NOT EXISTS "${HISTORY_TABLE}" (id bigint PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
