import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Values } from '../../../schema/row.ts';
import { StorageError, UsageError } from '../../core/errors.ts';
import { sharedSession } from './errors.ts';

/** A new connection. */
interface NewConnection extends SchemaConnection {
  script(sql: string): Promise<Values[]>;
}

/** The oldest supported server, as `server_version_num`. */
const SERVER_VERSION_MIN = 150_000;

/** How often a busy server checks whether its client is still there. */
const CLIENT_CHECK = '2s';

/**
 * Sets up the session of a new connection for writing. The search path comes first: until then, the role's own path decides
 * which function a name means. Returns the mark of the session.
 * @throws {UsageError} as {@link expectServer} does.
 */
export async function setUp(link: NewConnection): Promise<string> {
  const mark = randomUUID();
  // The mark comes before anything that a shared session may refuse: whoever else has the session then finds it.
  await link.script(`${searchPath('SET', link)}; SET daywalk.session = '${mark}'`);
  await expectServer(link);
  await link.script(`${settings('SET')}; ${SESSION_SETTINGS}`);
  // A server on Windows refuses the setting. It frees the locks of a lost client when its statement ends.
  await link.script(`SET client_connection_check_interval = '${CLIENT_CHECK}'`).catch(() => undefined);
  return mark;
}

/**
 * The server ends a read whose client has ended, or has ended the connection: it is what cancels the statements of a killed
 * process. Only some systems have the means.
 */
const NOTICES_LOST_CLIENT = `SELECT set_config('client_connection_check_interval', '500ms', true)
    WHERE version() ~ '(linux|darwin|bsd)' AND version() !~ 'emcc'`;

/**
 * Until the tables are measured, the server takes them for small, and would read one again for each row of another one. So no read
 * joins in this way then.
 */
const JOINS_UNMEASURED = `SELECT set_config('enable_nestloop', 'off', true)
    FROM pg_class WHERE oid = to_regclass('user_daily') AND reltuples < 0`;

const BEGIN = {
  /** Sees one state of the database. */
  reading: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  writing: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
} as const;

/**
 * The statements that begin a transaction. All settings end with it, so that it works through a pool that gives each transaction
 * another session; the one for reading works on a standby too.
 * @param statementMsMax after which the server ends a statement of a read. @default as long as it needs
 */
export function beginningOf(what: keyof typeof BEGIN, link: SchemaConnection, statementMsMax = 0): string {
  const beginning = `${BEGIN[what]}; ${searchPath('SET LOCAL', link)}; ${settings('SET LOCAL')}`;
  return what === 'reading'
    ? `${beginning}; SET LOCAL statement_timeout = ${Math.ceil(statementMsMax)}; ${NOTICES_LOST_CLIENT}; ${JOINS_UNMEASURED}`
    : `${beginning}; ${durable('SET LOCAL')}`;
}

/**
 * Checks the server once the search path is set.
 * @throws {UsageError} if the server is too old, the database is not UTF-8, the server is a worker node of Citus, or
 * the role may not use the schema.
 */
export async function expectServer(link: NewConnection): Promise<void> {
  const [row] = await link.script(
    `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
       current_setting('server_encoding'), to_regclass('pg_catalog.pg_dist_local_group') IS NOT NULL`,
  );
  const [version, shown, encoding, isCitus] = row ?? [];
  if (Number(version) < SERVER_VERSION_MIN) {
    throw new UsageError(`the server is PostgreSQL ${String(shown)}`, { hint: 'use PostgreSQL 15 or newer' });
  }
  if (encoding !== 'UTF8') {
    throw new UsageError(`the database keeps text as ${String(encoding)}`, {
      hint: `create one for the warehouse: CREATE DATABASE daywalk ENCODING 'UTF8' TEMPLATE template0`,
    });
  }
  if (isCitus === 1) await expectCoordinator(link);
  await expectUsableSchema(link);
}

/** How long a setting lasts: as long as the session, or the transaction. */
type Scope = 'SET' | 'SET LOCAL';

function searchPath(scope: Scope, { schema }: SchemaConnection): string {
  return `${scope} search_path = pg_catalog, ${pg.escapeIdentifier(schema)}, pg_temp`;
}

/** By name and value. */
const SETTINGS: Readonly<Record<string, string>> = {
  TimeZone: "'UTC'",
  DateStyle: "'ISO, YMD'",
  extra_float_digits: '1',
  client_min_messages: 'warning',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  lock_timeout: "'30s'",
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  jit: 'off',
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '5',
};

/**
 * The settings of every transaction. They override the defaults of server, database and role: waits for other sessions' locks
 * end; the server does not end a long transaction; NULL in a list is NULL; and the server notices within two minutes that a
 * client is lost.
 */
function settings(scope: Scope): string {
  const all = Object.entries(SETTINGS).map(([name, value]) => `${scope} ${name} = ${value}`);
  const isLocal = scope === 'SET LOCAL';
  return `${all.join('; ')}; SELECT set_config('transaction_timeout', '0', ${isLocal})
    WHERE current_setting('server_version_num')::int >= 170000`;
}

/** An acknowledged commit survives a power loss. */
function durable(scope: Scope): string {
  return `SELECT set_config('synchronous_commit', 'on', ${scope === 'SET LOCAL'})
    WHERE current_setting('synchronous_commit') = 'off'`;
}

/** What a session that writes needs besides. Its locks stay while it is idle. */
const SESSION_SETTINGS = `SET default_transaction_isolation = 'read committed'; SET idle_session_timeout = 0; ${durable('SET')}`;

/**
 * Refuses a worker node of Citus: advisory locks belong to the node that took them, and the migration tables belong
 * to the coordinator, which is group 0.
 */
async function expectCoordinator(link: SchemaConnection): Promise<void> {
  const [row] = await link.query('SELECT max(groupid) FROM pg_catalog.pg_dist_local_group');
  const group = Number(row?.[0] ?? 0);
  if (group === 0) return;
  throw new UsageError(`the server is a worker node of a Citus cluster (group ${group})`, {
    hint: 'connect to the coordinator: name its host in the URL',
  });
}

/** A connection to the schema of a warehouse. */
interface SchemaConnection {
  readonly schema: string;
  query(sql: string, values?: readonly string[]): Promise<Values[]>;
}

/** The rights of a role on the schema of a warehouse. */
interface SchemaRights {
  /** PostgreSQL looks up names in the schema, which needs USAGE. */
  readonly isSearched: boolean;
  readonly mayUse: boolean;
  readonly mayCreate: boolean;
  /** The schema holds the tables of a warehouse. */
  readonly hasTables: boolean;
  readonly role: string;
}

/**
 * Makes sure that the schema of the warehouse, if it exists, is in the search path. PostgreSQL silently skips a
 * schema for which the role lacks USAGE.
 * @throws {UsageError} with the missing GRANT, or if a proxy shares the session among its clients.
 */
async function expectUsableSchema(link: SchemaConnection): Promise<void> {
  const rights = await rightsIn(link);
  if (rights === null || rights.isSearched) return;
  // The role has the right, so another client has changed the search path of this session.
  if (rights.mayUse) throw sharedSession();
  throw refusal(link, rights, rights.mayCreate || rights.hasTables ? 'USAGE' : 'USAGE, CREATE');
}

/**
 * Makes sure that the role can create tables in the existing schema.
 * @throws {UsageError} with the missing GRANT.
 */
export async function expectCreatable(link: SchemaConnection): Promise<void> {
  await expectUsableSchema(link);
  const rights = await rightsIn(link);
  if (rights !== null && !rights.mayCreate) throw refusal(link, rights, 'CREATE');
}

/**
 * Makes sure that the role can write in the schema, or create it. Writes nothing.
 * @throws {UsageError} with the missing GRANT. @throws {StorageError} if the server only reads, or the role may not write.
 */
export async function expectWritableSchema(link: SchemaConnection): Promise<void> {
  const [server] = await link.query(
    `SELECT pg_is_in_recovery(), has_database_privilege(current_database(), 'CREATE'), current_database()::text`,
  );
  const [isStandby, mayCreateSchema, database] = server ?? [];
  if (isStandby === 1) throw notWritable('the server only reads', 'connect to the primary');
  const rights = await rightsIn(link);
  if (rights === null) {
    if (mayCreateSchema === 1) return;
    throw notWritable(
      `the schema ${link.schema} does not exist, and this role may not create one in ${String(database)}`,
      'create the schema for this role as the owner of the database, or name another one with ?schema=',
    );
  }
  if (!rights.hasTables) return expectCreatable(link);
  const closed = await link.query(
    `SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1::name AND c.relkind = 'r' AND c.relname = 'export_units'
       AND NOT (has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))`,
    [link.schema],
  );
  if (closed.length > 0)
    throw notWritable(
      `the role ${rights.role} may not change the tables of the schema ${link.schema}`,
      'run as their owner, or grant this role SELECT, INSERT, UPDATE and DELETE on all tables of the schema',
    );
}

function notWritable(why: string, hint: string): StorageError {
  return new StorageError(`write the warehouse: ${why}`, { hint });
}

/** Reads the rights; null if there is no such schema. */
async function rightsIn(link: SchemaConnection): Promise<SchemaRights | null> {
  const [row] = await link.query(
    `SELECT n.nspname = ANY (current_schemas(false)), has_schema_privilege(n.oid, 'USAGE'), has_schema_privilege(n.oid, 'CREATE'),
       EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'export_units'),
       current_user::text
     FROM pg_catalog.pg_namespace n WHERE n.nspname = $1::name`,
    [link.schema],
  );
  if (row === undefined) return null;
  const [isSearched, mayUse, mayCreate, hasTables, role] = row;
  return {
    isSearched: isSearched === 1,
    mayUse: mayUse === 1,
    mayCreate: mayCreate === 1,
    hasTables: hasTables === 1,
    role: String(role),
  };
}

function refusal({ schema }: SchemaConnection, { role }: SchemaRights, missing: string): UsageError {
  const grant = `GRANT ${missing} ON SCHEMA ${pg.escapeIdentifier(schema)} TO ${pg.escapeIdentifier(role)}`;
  return new UsageError(`the role ${role} may not use the schema ${schema}: ${missing} is not granted`, {
    hint: `run as the owner of the schema: ${grant}`,
  });
}
