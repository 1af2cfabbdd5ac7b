import pg from 'pg';
import { UsageError } from '../../core/errors.ts';
import type { Values } from '../port.ts';
import { sharedSession } from './errors.ts';

/** A connection to the schema of a warehouse. */
export interface SchemaConnection {
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
export async function expectUsableSchema(link: SchemaConnection): Promise<void> {
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
