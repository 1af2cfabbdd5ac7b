import type { Clock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import type { Reason } from '../core/reasons.ts';
import { isPostgres, schemeOf } from './location.ts';
import type { Warehouse } from './port.ts';

export interface OpenOptions {
  readonly clock: Clock;
  /** Create the warehouse if it does not exist. Without it, a missing warehouse is a usage error. */
  readonly create: boolean;
  /**
   * Open for reading only: nothing is written or migrated, and a schema of another version is refused. Needs no right to
   * write in the database; methods that write throw.
   * @default false
   */
  readonly readOnly?: boolean | undefined;
  /**
   * The longest that a statement of a warehouse opened for reading may take, in milliseconds. After it, the connection counts
   * as lost. PostgreSQL only: SQLite is part of this process.
   * @default no limit
   */
  readonly statementMsMax?: number | undefined;
  /** Aborted when the process must stop; this shortens waits for other programs. */
  readonly signal?: AbortSignal | undefined;
  /** Called with problems that the owner of the machine should know about, and their remedies. */
  readonly warn?: ((message: string, hint: string, reason?: Reason) => void) | undefined;
  /**
   * Size of SQLite's write-ahead log that causes a warning, in bytes.
   * @default 64 MiB
   */
  readonly logBytesMax?: number | undefined;
}

/**
 * Opens the warehouse at a location, a SQLite path or `postgres://…`, and migrates it to the schema of this version, unless
 * it is opened for reading only.
 * Only the driver of that database is loaded.
 * @throws {UsageError} if this version cannot open the location, or if the driver is not installed correctly.
 */
export async function openWarehouse(location: string, options: OpenOptions): Promise<Warehouse> {
  if (isPostgres(location)) {
    const { openPostgres, openPostgresForReading } = await import('./postgres/warehouse.ts');
    return options.readOnly === true
      ? openPostgresForReading(location, options)
      : openPostgres(location, options);
  }
  const scheme = schemeOf(location);
  if (scheme !== undefined) {
    throw new UsageError(`there are no ${scheme} warehouses`, {
      hint: 'name a SQLite file, for example daywalk.db, or a postgres:// URL',
    });
  }
  const { requireAddon } = await import('./sqlite/addon.ts');
  await requireAddon();
  const { openSqlite } = await import('./sqlite/warehouse.ts');
  return openSqlite(location, options);
}
