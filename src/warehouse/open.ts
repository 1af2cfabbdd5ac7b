import type { Clock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import type { Warehouse } from './port.ts';

/** How to open a warehouse. */
export interface OpenOptions {
  readonly clock: Clock;
  /** Create it where it does not exist; otherwise its absence is a usage error. */
  readonly create: boolean;
  /** Aborted when the process was asked to stop; waits for others are cut short then. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the warehouse that `location` names: a SQLite path.
 * @throws {UsageError} for a location that this version cannot open.
 */
export async function openWarehouse(location: string, options: OpenOptions): Promise<Warehouse> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(location)) {
    const scheme = location.slice(0, location.indexOf(':'));
    throw new UsageError(`this version has no ${scheme} warehouse`, {
      hint: 'name a SQLite file, for example --warehouse daywalk.db',
    });
  }
  const { openSqlite } = await import('./sqlite/warehouse.ts');
  return openSqlite(location, options);
}
