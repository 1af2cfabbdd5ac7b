import pg from 'pg';

/** Where the benchmarks look for a server, unless DAYWALK_BENCH_POSTGRES names another. */
const DEFAULT_URL = 'postgres://postgres@127.0.0.1:5432/test';

/** A PostgreSQL server in which the benchmarks make schemas of their own. */
export interface Postgres {
  readonly url: string;
  readonly version: string;
  /** A name for a schema that is not there yet; it is dropped at the end. What was written before is on disk then. */
  freshSchema(): Promise<string>;
  /** The URL of a schema as a warehouse. */
  warehouse(schema: string): string;
  /** Makes a schema with empty tables like those of another. */
  copyTables(from: string, tables: readonly string[]): Promise<string>;
  /** How many rows tables hold together. */
  rows(schema: string, tables: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** Connects to the server; null where none answers. */
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
