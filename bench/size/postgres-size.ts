import pg from 'pg';

/** A PostgreSQL schema for one measurement. */
export interface MeasuredSchema {
  /** The URL of the warehouse in the schema. */
  readonly url: string;
  /** Bytes of the tables, with indexes and TOAST. */
  bytes(): Promise<number>;
}

/** Runs `use` with a new schema, and drops it afterwards. */
export async function withSchema<Result>(
  url: string,
  use: (schema: MeasuredSchema) => Promise<Result>,
): Promise<Result> {
  const name = `daywalk_size_${process.pid}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const drop = () => admin.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
  const own = new URL(url);
  own.searchParams.set('schema', name);
  try {
    await drop();
    return await use({ url: own.href, bytes: () => bytesOf(admin, name) });
  } finally {
    await drop();
    await admin.end();
  }
}

async function bytesOf(admin: pg.Client, schema: string): Promise<number> {
  const { rows } = await admin.query<{ bytes: string }>(
    `SELECT SUM(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`,
    [schema],
  );
  return Number(rows[0]?.bytes ?? 0);
}
