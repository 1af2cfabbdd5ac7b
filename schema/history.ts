/** The table that says which migrations a PostgreSQL warehouse has. It is no table of the warehouse's content. */
export const HISTORY_TABLE = '__drizzle_migrations';

/** Makes the table of migrations where it is not there. */
export const CREATE_HISTORY = `CREATE TABLE IF NOT EXISTS "${HISTORY_TABLE}" (id bigint PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
