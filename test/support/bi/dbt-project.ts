import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { publishedTables } from '../../../schema/tables.ts';
import { writeBi } from '../../../src/bi/targets.ts';
import { copy } from '../copy/run-copy.ts';
import { publishFrom } from '../publish/publish-from.ts';
import type { DbtProject } from './dbt.ts';

/** A project that reads a copy of a warehouse. */
export interface HeldProject extends DbtProject {
  /** Runs SQL where the copy is; there is none for a lake. */
  execute?(sql: string): Promise<void>;
  remove(): Promise<void>;
}

/** A kind of place that the package can read. */
export interface DbtPlace {
  readonly name: string;
  /** Why there is none; null if there is one. */
  readonly missing: string | null;
  /** Copies a warehouse there, and writes the package into a new folder of `folder`. */
  make(warehouse: string, folder: string): Promise<HeldProject>;
}

const { url: serverUrl, kind, description } = inject('postgres');

const inPostgres: DbtPlace = {
  name: 'PostgreSQL',
  missing: serverUrl === null || kind === 'PGlite' ? `no server of PostgreSQL: ${description}` : null,
  make: async (warehouse, folder) => {
    const database = `daywalk_dbt_${randomUUID().slice(0, 8)}`;
    const onServer = (sql: string) => executeAt(serverUrl ?? '', sql);
    await onServer(`CREATE DATABASE ${database}`);
    const url = new URL(serverUrl ?? '');
    url.pathname = `/${database}`;
    await copy(warehouse, url.href);
    return {
      directory: await writtenPackage(join(folder, database)),
      env: {
        PGHOST: url.hostname,
        PGPORT: url.port || '5432',
        PGUSER: decodeURIComponent(url.username),
        PGPASSWORD: decodeURIComponent(url.password),
        PGDATABASE: database,
      },
      vars: {},
      execute: (sql) => executeAt(url.href, sql),
      remove: () => onServer(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`),
    };
  },
};

const inLake: DbtPlace = {
  name: 'a lake',
  missing: null,
  make: async (warehouse, folder) => {
    const own = join(folder, `lake-${randomUUID().slice(0, 8)}`);
    const directory = join(own, 'lake');
    await publishFrom(warehouse, { parquet: { directory, tables: publishedTables, force: false } });
    return {
      directory: await writtenPackage(join(own, 'dbt')),
      env: { DAYWALK_DBT_TARGET: 'lake' },
      vars: { daywalk_lake: directory },
      remove: async () => undefined,
    };
  },
};

/** The places that the package can read. */
export const dbtPlaces: readonly DbtPlace[] = [inPostgres, inLake];

async function writtenPackage(directory: string): Promise<string> {
  await writeBi({ target: 'dbt', directory });
  return directory;
}

async function executeAt(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
