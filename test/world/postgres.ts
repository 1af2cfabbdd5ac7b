import { rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { findServer } from '../support/postgres/find-server.ts';

/** One of so many worlds keeps its warehouse in PostgreSQL: an odd number, so that half of them have an archive. */
export const POSTGRES_EVERY = 11;

/** A schema of a server, in which one process lives its worlds one after the other. */
export interface PostgresPlace {
  /** The setting of the warehouse. */
  readonly location: string;
  /** Removes the warehouse. */
  drop(): Promise<void>;
  /** Removes what is in the warehouse, which takes a tenth of the time of making it anew. */
  empty(): Promise<void>;
  /** Writes every row of every table to a new SQLite file, without the program's code. */
  mirror(path: string): Promise<void>;
}

/** The tables that a new warehouse has filled. */
const HISTORY = '__drizzle_migrations';

const asText = { getTypeParser: () => (text: string) => text };

let places: Promise<PostgresPlace | string> | undefined;

/** The schema of this process; the reason if there is no server. Uses the server of the tests, but starts none. */
export function postgresPlace(): Promise<PostgresPlace | string> {
  places ??= openPlace();
  return places;
}

/** Removes the schema of this process. */
export async function leavePostgres(): Promise<void> {
  const place = await places;
  if (place !== undefined && typeof place !== 'string') await place.drop();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function openPlace(): Promise<PostgresPlace | string> {
  const { env } = process;
  const source =
    env['DAYWALK_TEST_POSTGRES_SOURCE'] ?? (env['DAYWALK_TEST_POSTGRES'] ? undefined : 'running');
  const server = await findServer({ url: env['DAYWALK_TEST_POSTGRES'], source, path: '' }).catch(
    (error: unknown) => ({ url: null, description: String(error) }),
  );
  if (server.url === null) return server.description;
  const pool = new pg.Pool({ connectionString: server.url, max: 1, allowExitOnIdle: true, types: asText });
  const name = `daywalk_world_${process.pid}`;
  const query = async <Row extends object>(sql: string) => (await pool.query<Row>(sql)).rows;
  const tablesOf = async () => {
    const sql = `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${name}' AND tablename <> '${HISTORY}'`;
    return (await query<{ name: string }>(sql)).map((table) => table.name);
  };
  const drop = async () => void (await query(`DROP SCHEMA IF EXISTS ${name} CASCADE`));
  // A process that was killed has left its schema.
  const schemas = await query<{ name: string }>(
    `SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^daywalk_world_[0-9]+$'`,
  );
  for (const { name: left } of schemas)
    if (!isAlive(Number(left.split('_').at(-1)))) await query(`DROP SCHEMA IF EXISTS ${left} CASCADE`);
  return {
    location: `${server.url}${server.url.includes('?') ? '&' : '?'}schema=${name}`,
    drop,
    empty: async () => {
      const filled = (await tablesOf()).map((table) => `${name}."${table}"`);
      if (filled.length > 0) await query(`TRUNCATE ${filled.join(', ')}`);
    },
    mirror: async (path) => {
      rmSync(path, { force: true });
      const db = new Sqlite(path);
      try {
        db.pragma('synchronous = OFF');
        const names = await tablesOf();
        // Several statements in one request have several results.
        const sql = names.map((table) => `SELECT * FROM ${name}."${table}"`).join('; ');
        const results: unknown = names.length === 0 ? [] : await pool.query(sql);
        for (const [index, result] of [results].flat().entries())
          if (result instanceof pg.Result) copyRows(db, names[index] ?? '', result);
      } finally {
        db.close();
      }
    },
  };
}

function copyRows(db: Sqlite.Database, table: string, { fields, rows }: pg.Result): void {
  const columns = fields.map(({ name }) => `"${name}"`).join(', ');
  db.exec(`CREATE TABLE "${table}" (${columns})`);
  const insert = db.prepare(`INSERT INTO "${table}" VALUES (${fields.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(fields.map(({ name }): unknown => row[name]));
}
