import pg from 'pg';

/** Default server, unless DAYWALK_BENCH_POSTGRES names another one. */
const DEFAULT_URL = 'postgres://postgres@127.0.0.1:5432/test';

/** A PostgreSQL server for temporary schemas. */
export interface Postgres {
  readonly url: string;
  readonly version: string;
  /** Name of a new schema, which is dropped at the end. Earlier writes are flushed to disk first. */
  freshSchema(): Promise<string>;
  /** The warehouse URL of a schema. */
  warehouse(schema: string): string;
  /** Creates a schema with empty copies of another schema's tables. */
  copyTables(from: string, tables: readonly string[]): Promise<string>;
  /** Total number of rows in some tables. */
  rows(schema: string, tables: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** Connects to the server; null if there is none. */
export async function openPostgres(url = DEFAULT_URL): Promise<Postgres | null> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
  } catch {
    return null;
  }
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  return postgresOn(client, { url, version: rows[0]?.server_version ?? '' });
}

function postgresOn(client: pg.Client, server: Pick<Postgres, 'url' | 'version'>): Postgres {
  const schemas: string[] = [];
  const freshSchema = async () => {
    await client.query('CHECKPOINT');
    const name = `daywalk_bench_${process.pid}_${schemas.length}`;
    schemas.push(name);
    return name;
  };
  return {
    ...server,
    freshSchema,
    warehouse: (schema) => {
      const warehouse = new URL(server.url);
      warehouse.searchParams.set('schema', schema);
      return warehouse.href;
    },
    copyTables: async (from, tables) => {
      const schema = await freshSchema();
      await client.query(`CREATE SCHEMA ${schema}`);
      for (const table of tables) {
        await client.query(`CREATE TABLE ${schema}.${table} (LIKE ${from}.${table} INCLUDING ALL)`);
      }
      return schema;
    },
    rows: async (schema, tables) => {
      const counts = tables.map((table) => `(SELECT count(*) FROM ${schema}.${table})`);
      const { rows } = await client.query<{ rows: string }>(`SELECT ${counts.join(' + ')} AS rows`);
      return Number(rows[0]?.rows);
    },
    close: async () => {
      for (const name of schemas) await client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
      await client.end();
    },
  };
}
