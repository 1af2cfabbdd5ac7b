import { UsageError } from '../../core/errors.ts';
import { isPostgres, schemeOf } from '../../warehouse/location.ts';
import { maskUserInfo } from '../mask-url.ts';

/**
 * Parses a warehouse location: a SQLite path, or `postgres://…`.
 * @throws {UsageError} for any other URL, which would otherwise become the name of a file
 */
export function parseWarehouse(text: string): string {
  if (text === '')
    throw new UsageError('the location is empty', { hint: 'give a path, for example daywalk.db' });
  if (isPostgres(text)) return parsePostgres(text);
  const scheme = schemeOf(text);
  if (scheme === undefined) return text;
  throw new UsageError(`"${maskUserInfo(text)}" is not a warehouse: ${scheme}: is not known`, {
    hint: 'give the path of a SQLite file, for example daywalk.db, or postgres://user@host/database',
  });
}

function parsePostgres(text: string): string {
  if (URL.canParse(text)) return text;
  throw new UsageError(`"${maskUserInfo(text)}" is not a PostgreSQL URL`, {
    hint: 'write it as postgres://user:password@host:5432/database, special characters of the password percent-encoded',
  });
}
