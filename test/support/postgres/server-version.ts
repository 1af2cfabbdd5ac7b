import pg from 'pg';
import { MAJOR_MIN } from './binaries.ts';

const CONNECT_MS = 5_000;

/**
 * Returns the version of a server in whose database a warehouse can be created.
 * @throws {Error} saying why that cannot be.
 */
export async function versionOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{
      version: string;
      encoding: string;
      may_create: boolean;
      database: string;
    }>(
      `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
         current_database() AS database, has_database_privilege(current_database(), 'CREATE') AS may_create`,
    );
    const found = rows[0];
    const version = /^[\d.]+/.exec(found?.version ?? '')?.[0] ?? '0';
    if (Number.parseInt(version, 10) < MAJOR_MIN) throw new Error(`it is version ${version}`);
    if (found?.encoding !== 'UTF8') throw new Error(`its database keeps text as ${found?.encoding}`);
    if (!found.may_create) throw new Error(`its database ${found.database} lets us create no schema`);
    return version;
  } finally {
    await client.end();
  }
}
