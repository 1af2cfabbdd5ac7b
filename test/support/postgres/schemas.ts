import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Upper case, a hyphen and a space have to be quoted everywhere. */
const PREFIX = 'Daywalk test-';
const NAME = /^Daywalk test-(\d{4}-\d{2}-\d{2})-/;

/** Returns the prefix of all schema names of one run; it contains `now`, so that leftovers can be recognized. */
export function runPrefix(now: Date): string {
  return `${PREFIX}${now.toISOString().slice(0, 10)}-${randomUUID().slice(0, 8)}-`;
}

/** Returns a unique name. */
export function schemaName(prefix: string): string {
  return prefix + randomUUID().slice(0, 13);
}

/** Drops the schemas that killed runs of earlier days left behind. */
export async function dropLeftovers(url: string, now: Date): Promise<void> {
  const yesterday = new Date(now.getTime() - 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  await drop(url, (name) => (NAME.exec(name)?.[1] ?? yesterday) < yesterday);
}

/** Drops the schemas of one run. */
export async function dropRun(url: string, prefix: string): Promise<void> {
  await drop(url, (name) => name.startsWith(prefix));
}

async function drop(url: string, isMeant: (name: string) => boolean): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1)`,
      [PREFIX],
    );
    // One by one: each drop locks every table, and the number of locks is limited.
    for (const { name } of rows.filter((row) => isMeant(row.name))) {
      await client.query(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(name)} CASCADE`);
    }
  } finally {
    await client.end();
  }
}
