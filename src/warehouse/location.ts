import { statSync } from 'node:fs';
import { isPostgres } from '../settings/parsers/warehouse.ts';

const POSTGRES_PORT = '5432';
const DEFAULT_SCHEMA = 'public';

/**
 * True when two locations are known to be one warehouse: two names of one file, or URLs of one schema. One server under
 * two names is not recognized.
 */
export function isSameWarehouse(a: string, b: string): boolean {
  if (isPostgres(a) && isPostgres(b)) return schemaOf(a) === schemaOf(b);
  if (isPostgres(a) || isPostgres(b)) return false;
  const file = fileOf(a);
  return file !== null && file === fileOf(b);
}

function schemaOf(location: string): string {
  const { hostname, port, pathname, searchParams } = new URL(location);
  const host = searchParams.get('host') ?? hostname;
  const schema = searchParams.get('schema') ?? DEFAULT_SCHEMA;
  return JSON.stringify([host.toLowerCase(), port || POSTGRES_PORT, pathname, schema]);
}

/** What a path leads to, whatever it is called; null where nothing is there. */
function fileOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    // Whoever opens it tells why that is impossible, unless it is to be created.
    return null;
  }
}
