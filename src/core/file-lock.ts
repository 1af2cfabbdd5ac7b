import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';

/** A lock that the operating system frees at any kind of death of its holder, so that no lock is ever stale. */
export interface FileLock {
  release(): void;
}

/**
 * Takes an exclusive lock on a side file, which is created where it is missing, and stays. Answers null when another
 * holder has it, in this process or in another.
 * @throws {Error} of the file system or of SQLite, with a code, when the file cannot be created or written.
 */
export function tryFileLock(path: string): FileLock | null {
  // On a file that may only be read, SQLite takes no lock and says nothing.
  accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  // Node locks no files, but SQLite does: an exclusive transaction on an empty database writes nothing.
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
