import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { systemClock } from '../../../src/core/clock.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';

/** A database with an empty warehouse, of which copies are made. */
export interface Template {
  readonly database: string;
  /** The schema of the warehouse. */
  readonly schema: string;
}

/**
 * Creates a template on a server that the suite started. To copy and remove it takes a quarter of the
 * processor time of migrating a schema and dropping it.
 */
export async function createTemplate(serverUrl: string, prefix: string): Promise<Template> {
  const template = { database: `${prefix}template`, schema: `${prefix}copy` };
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(template.database)}`);
    const location = locationOf(serverUrl, template);
    await (await openWarehouse(location, { clock: systemClock(), create: true })).close();
    // No program may connect to it any more: a copy is only possible while none does.
    await client.query(`ALTER DATABASE ${pg.escapeIdentifier(template.database)} ALLOW_CONNECTIONS false`);
  } finally {
    await client.end();
  }
  return template;
}

/** A copy of a template. Nobody may be connected to it while it is copied or replaced. */
export interface TemplateCopy extends Template {
  remove(): Promise<void>;
  /** Makes a template of it, which stays as long as the server. */
  keep(): Promise<Template>;
  /** Replaces it by a copy of another template. */
  replace(by: Template): Promise<void>;
}

let administrator: pg.Pool | undefined;

/** Copies a template into a new database. */
export async function copyTemplate(serverUrl: string, { database, schema }: Template): Promise<TemplateCopy> {
  administrator ??= new pg.Pool({ connectionString: serverUrl, max: 1, allowExitOnIdle: true });
  const pool = administrator;
  // A test may end the connections of a server.
  if (pool.listenerCount('error') === 0) pool.on('error', () => undefined);
  const copy = `${database.replace(/template$/, '')}${randomUUID().slice(0, 13)}`;
  const create = async (name: string, from: string) => {
    const [to, template] = [name, from].map((each) => pg.escapeIdentifier(each));
    await pool.query(`CREATE DATABASE ${to} TEMPLATE ${template} STRATEGY file_copy`);
  };
  // A test may leave connections that it has lost.
  const remove = async () =>
    void (await pool.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(copy)} WITH (FORCE)`));
  await create(copy, database);
  return {
    database: copy,
    schema,
    remove,
    keep: async () => {
      const kept = `${copy}-kept`;
      await create(kept, copy);
      return { database: kept, schema };
    },
    replace: async (by) => {
      await remove();
      await create(copy, by.database);
    },
  };
}

/** The setting of a warehouse in a database and a schema of the server. */
export function locationOf(serverUrl: string, { database, schema }: Partial<Template>): string {
  const url = new URL(serverUrl);
  if (database !== undefined) url.pathname = `/${encodeURIComponent(database)}`;
  return `${url.href}${url.search === '' ? '?' : '&'}schema=${encodeURIComponent(schema ?? '')}`;
}
