import { accessSync, constants } from 'node:fs';
import type { ClientConfig } from 'pg';
import { messageOf, UsageError } from '../../core/errors.ts';

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

/** No statement takes this long, except one that waits for a lost server. */
const STATEMENT_TIMEOUT_MS = 15 * 60 * 1000;
const SCHEMA_BYTES_MAX = 63;
const LOOPBACK = /^(localhost|127\.|\[?::1\]?$|\/|$)/;

/** A PostgreSQL warehouse. */
export interface PostgresTarget {
  /** The ways to connect, in the order to try them. */
  readonly configs: readonly ClientConfig[];
  /** The schema that holds the tables. */
  readonly schema: string;
  /** The URL without password. */
  readonly location: string;
}

/**
 * Reads `postgres://user:password@host:port/database?schema=…&sslmode=…`. Missing parts come from the same places as
 * for PostgreSQL's own tools: PGPASSWORD, a password file and so on. `sslmode` has the meaning of libpq: without it,
 * TLS is tried first unless the host is this machine.
 * @throws {UsageError} if it is not such a URL.
 */
export function parseTarget(text: string): PostgresTarget {
  if (!URL.canParse(text)) {
    throw new UsageError('the warehouse is not a PostgreSQL URL', {
      hint: 'write it as postgres://user:password@host:5432/database, special characters of the password percent-encoded',
    });
  }
  const url = new URL(text);
  const schema = schemaOf(url);
  const host = url.searchParams.get('host') ?? url.hostname;
  const modes = modesOf(url, LOOPBACK.test(host));
  return { configs: modes.map((mode) => configOf(url, mode)), schema, location: shownUrl(url, schema) };
}

function schemaOf(url: URL): string {
  const schema = url.searchParams.get('schema') ?? 'public';
  // In a search path, PostgreSQL reads this name as the role's name, even if it is quoted.
  const isRole = schema === '$user';
  const isReserved = /^pg_/i.test(schema) || schema === 'information_schema' || isRole;
  if (
    schema !== '' &&
    !isReserved &&
    Buffer.byteLength(schema) <= SCHEMA_BYTES_MAX &&
    !schema.includes('\0')
  ) {
    return schema;
  }
  throw new UsageError(`"${schema}" cannot be the schema of a warehouse`, {
    hint: `choose a name of 1 to ${SCHEMA_BYTES_MAX} bytes that PostgreSQL does not reserve, for example ?schema=daywalk`,
  });
}

function modesOf(url: URL, isLocal: boolean): SslMode[] {
  const asked = url.searchParams.get('sslmode');
  if (asked === null) return isLocal ? ['disable'] : ['prefer', 'disable'];
  const mode = SSL_MODES.find((name) => name === asked);
  if (mode === undefined) {
    throw new UsageError(`sslmode=${asked} is not known`, { hint: `choose from ${SSL_MODES.join(', ')}` });
  }
  if (mode === 'verify-ca' && url.searchParams.get('sslrootcert') === null) {
    throw new UsageError('sslmode=verify-ca needs the certificate authority to check against', {
      hint: 'add sslrootcert=FILE, or use sslmode=verify-full',
    });
  }
  return mode === 'prefer' ? ['prefer', 'disable'] : [mode];
}

function configOf(url: URL, mode: SslMode): ClientConfig {
  const own = new URL(url);
  own.searchParams.delete('schema');
  own.searchParams.set('sslmode', mode);
  own.searchParams.set('uselibpqcompat', 'true');
  for (const name of ['sslcert', 'sslkey', 'sslrootcert']) {
    // Without TLS, no certificates are read.
    if (mode === 'disable') own.searchParams.delete(name);
    else expectReadable(name, own.searchParams.get(name));
  }
  return {
    connectionString: own.href,
    application_name: url.searchParams.get('application_name') ?? 'daywalk',
    query_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
  };
}

function expectReadable(name: string, path: string | null): void {
  if (path === null) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`, {
      cause: error,
      hint: 'name a file that this user may read',
    });
  }
}

function shownUrl(url: URL, schema: string): string {
  const user = url.username === '' ? '' : `${url.username}@`;
  const suffix = url.searchParams.has('schema') ? `?schema=${encodeURIComponent(schema)}` : '';
  return `postgres://${user}${url.host}${url.pathname}${suffix}`;
}
