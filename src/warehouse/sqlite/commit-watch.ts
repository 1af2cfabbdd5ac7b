import Sqlite, { type Database } from 'better-sqlite3';
import type { CommitWatch } from '../port.ts';

/**
 * Watches a file for commits, see `Warehouse.watchCommits`. It has a connection of its own: `data_version` tells whether
 * others have committed since the same connection looked before, and one that reads in a transaction sees no news.
 */
export function watchCommits(path: string): CommitWatch | null {
  try {
    const db = new Sqlite(path, { readonly: true });
    const before = versionOf(db);
    return { isQuiet: () => before !== null && versionOf(db) === before, close: () => void db.close() };
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) return null;
    throw error;
  }
}

/** Null where the file does not tell: who reads its rows hears why. */
function versionOf(db: Database): unknown {
  try {
    return db.pragma('data_version', { simple: true });
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) return null;
    throw error;
  }
}
