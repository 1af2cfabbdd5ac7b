import Sqlite from 'better-sqlite3';

/** A lock that the operating system frees at any kind of death of its holder, so that no lock is ever stale. */
export interface FileLock {
  release(): void;
}

/**
 * Takes an exclusive lock on a side file, which is created where it is missing, and stays. Answers null when another
 * holder has it, in this process or in another.
 * @throws {Sqlite.SqliteError} when the file cannot be opened or created.
 */
export function tryFileLock(path: string): FileLock | null {
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
