import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';

/** A lock that the operating system frees when its holder ends in any way, so that no lock is ever stale. */
export interface FileLock {
  release(): void;
}

/**
 * Takes an exclusive lock on a file beside the locked one; creates the file if needed and leaves it there. Returns null if
 * the lock is held already, in this or another process.
 * @throws {Error} with the code of the file system or SQLite, if the file cannot be created or written
 */
export function tryFileLock(path: string): FileLock | null {
  // SQLite silently takes no lock on a read-only file.
  accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  // Node cannot lock files, but SQLite can: an exclusive transaction on an empty database writes nothing.
  const db = new Sqlite(path, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (error instanceof Sqlite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)) return null;
    throw error;
  }
  return { release: () => void db.close() };
}
