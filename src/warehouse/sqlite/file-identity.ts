import { statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import type { CommitWatch } from '../port.ts';

/** Which file a path leads to; undefined where there is none, or none that may be seen: who opens it hears why. */
export function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/**
 * Watches a file for commits, see `Warehouse.watchCommits`. It has a connection of its own: `data_version` tells whether
 * others have committed since the same connection looked before, and one that reads in a transaction sees no news.
 * @param opened the {@link fileAt} the path before the warehouse was opened: whoever opens the path later must find the
 * same file there, not one that was put into its place.
 */
export function watchCommits(path: string, opened: string | undefined): CommitWatch | null {
  try {
    // SQLite would wait for a lock for five seconds, in which no signal is heard; what cannot be told now is not quiet.
    const db = new Sqlite(path, { readonly: true, timeout: 0 });
    const before = versionOf(db);
    const isSameFile = () => opened !== undefined && fileAt(path) === opened;
    return {
      isQuiet: () => before !== null && versionOf(db) === before && isSameFile(),
      close: () => void db.close(),
    };
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
