import { BusyError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';
import { storageError } from './errors.ts';

/**
 * Rewrites the file from its rows alone, see `Warehouse.forgetDeleted`. Statistics hold samples of values, and free pages and the
 * log hold what was deleted.
 */
export async function forgetDeleted(connection: Connection): Promise<void> {
  const { db, path } = connection;
  try {
    db.pragma('secure_delete = ON');
    dropStatistics(connection);
    db.exec('VACUUM');
    db.exec('ANALYZE');
    emptyLog(connection);
  } catch (error) {
    if (error instanceof BusyError) throw error;
    throw storageError(error, 'forget deleted values in', path);
  }
}

function dropStatistics({ db }: Connection): void {
  const tables = db
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')",
    )
    .all();
  for (const { name } of tables) db.exec(`DELETE FROM ${name}`);
}

/** @throws {BusyError} while a reader needs the log. */
function emptyLog({ db, path }: Connection): void {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (result?.busy === 0) return;
  throw new BusyError(`empty the log of ${path}: another program reads the warehouse`, {
    hint: 'end that program and repeat the command: it resumes',
  });
}
