import { statSync } from 'node:fs';

/** A path of one letter and a colon is a drive, not a scheme. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
const POSTGRES = /^postgres(ql)?:\/\//i;
const POSTGRES_PORT = '5432';
const POSTGRES_SCHEMA = 'public';

/** True when a location is a `postgres://` or `postgresql://` URL. Any other location is a SQLite path. */
export function isPostgres(location: string): boolean {
  return POSTGRES.test(location);
}

/** The scheme of a location, such as `mysql`; undefined for a path. */
export function schemeOf(location: string): string | undefined {
  return SCHEME.exec(location)?.[1]?.toLowerCase();
}

/**
 * True when two locations lead to the same warehouse: to one file, or to one schema of one database. Does not
 * recognize one server under two host names.
 */
export function isSameWarehouse(a: string, b: string): boolean {
  if (isPostgres(a) && isPostgres(b)) return postgresSchemaOf(a) === postgresSchemaOf(b);
  if (isPostgres(a) || isPostgres(b)) return false;
  const file = fileOf(a);
  return file !== null && file === fileOf(b);
}

function postgresSchemaOf(location: string): string {
  const { hostname, port, pathname, searchParams } = new URL(location);
  const host = searchParams.get('host') ?? hostname;
  const schema = searchParams.get('schema') ?? POSTGRES_SCHEMA;
  return JSON.stringify([host.toLowerCase(), port || POSTGRES_PORT, pathname, schema]);
}

/** Identifies the file that a path leads to, so that two names of one file are equal; null when there is none. */
function fileOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    // Opening the warehouse reports why the file cannot be used, or creates it.
    return null;
  }
}
