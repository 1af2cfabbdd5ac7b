import type { Clock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { isPostgres, schemeOf } from './location.ts';
import type { Warehouse } from './port.ts';

/** How to open a warehouse. */
export interface OpenOptions {
  readonly clock: Clock;
  /** Create it where it does not exist; otherwise its absence is a usage error. */
  readonly create: boolean;
  /** Aborted when the process was asked to stop; waits for others are cut short then. */
  readonly signal?: AbortSignal | undefined;
  /** Told what the owner of the machine should know while the warehouse is open, with the remedy. */
  readonly warn?: ((message: string, hint: string) => void) | undefined;
  /** Bytes of SQLite's write-ahead log that are worth a warning. Default: 64 MiB. */
  readonly logBytesMax?: number | undefined;
}

/**
 * Opens the warehouse that `location` names, a SQLite path or `postgres://…`, and brings it to the schema of this
 * version. Only the driver of that database is loaded.
 * @throws {UsageError} for a location that this version cannot open, and for a driver that is not installed as it should.
 */
export async function openWarehouse(location: string, options: OpenOptions): Promise<Warehouse> {
  if (isPostgres(location)) {
    const { openPostgres } = await import('./postgres/warehouse.ts');
    return openPostgres(location, options);
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
