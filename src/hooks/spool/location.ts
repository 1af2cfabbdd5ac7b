import { resolve } from 'node:path';
import { isPostgres } from '../../warehouse/location.ts';

/** What decides where the spool is. */
export interface SpoolChoice {
  /** The folder that was asked for; null for the default. */
  readonly spool: string | null;
  /** A SQLite path, or `postgres://…`. */
  readonly warehouse: string;
  /** What relative paths start from. */
  readonly directory: string;
}

/** The folder that holds received hook events until they are drained: beside the warehouse, unless one is named. */
export function spoolOf({ spool, warehouse, directory }: SpoolChoice): string {
  // A database server has no place beside it; the default warehouse's place is as good as any.
  const beside = isPostgres(warehouse) ? 'daywalk.db' : warehouse;
  return resolve(directory, spool ?? `${beside}.spool`);
}
