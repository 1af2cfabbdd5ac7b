import { resolve } from 'node:path';
import { isPostgres } from '../../warehouse/location.ts';

/** The settings that decide where the spool is. */
export interface SpoolChoice {
  /** The configured folder; null for the default. */
  readonly spool: string | null;
  /** A SQLite path, or `postgres://…`. */
  readonly warehouse: string;
  /** The folder to which relative paths refer. */
  readonly directory: string;
}

/** Returns the folder that holds hook events until they are drained: by default, beside the warehouse. */
export function spoolOf({ spool, warehouse, directory }: SpoolChoice): string {
  // There is no folder beside a database server, so the spool of the default SQLite warehouse is used.
  const beside = isPostgres(warehouse) ? 'daywalk.db' : warehouse;
  return resolve(directory, spool ?? `${beside}.spool`);
}
