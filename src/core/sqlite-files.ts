import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { BusyError, DamagedError, DaywalkError, messageOf, StorageError } from './errors.ts';
import { hasCode } from './files.ts';

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

const HINTS: readonly [RegExp, string][] = [
  [/^SQLITE_FULL/, 'free space on this disk, then run again: it resumes'],
  [/^SQLITE_(READONLY|PERM|AUTH)/, 'give this user the right to write the file and its folder'],
  [/^SQLITE_CANTOPEN/, 'create the folder, and check that this user may write in it'],
  [DAMAGED, 'restore the file from a backup, or export again into a new one'],
  [/^SQLITE_IOERR/, 'check the disk and its free space, then run again: it resumes'],
];

/** True if another connection holds a lock that is needed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}

/** True if a connection that may only read needs the shared memory of the log, and cannot create or recover it. */
export function isLogMissing(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(CANTOPEN|READONLY_)/.test(error.code);
}

/** Turns an error of SQLite into one that names the file and the remedy. Returns other errors unchanged. */
export function storageError(error: unknown, doing: string, path: string): unknown {
  if (error instanceof DaywalkError || !(error instanceof Sqlite.SqliteError)) return error;
  if (isBusy(error)) {
    return new BusyError(`${doing} ${path}: another program holds the database`, {
      cause: error,
      hint: 'end the program that writes to it, then run again',
    });
  }
  const hint = isReadOnly(path) ? HINT_READ_ONLY : HINTS.find(([pattern]) => pattern.test(error.code))?.[1];
  const Kind = DAMAGED.test(error.code) ? DamagedError : StorageError;
  return new Kind(`${doing} ${path}: ${messageOf(error)} (${error.code})`, {
    cause: error,
    hint: hint ?? 'run again: what was committed is safe',
  });
}

/** The remedy for a read-only file system, for which SQLite reports several errors. */
export const HINT_READ_ONLY =
  'the file system is read-only: mount it for writing, or put the file on another one';

function isReadOnly(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return hasCode(error, 'EROFS');
  }
}

/**
 * Creates a SQLite file with access for its owner only, because it names people. SQLite gives its side files the same
 * mode. False if the file exists.
 */
export function createPrivately(path: string): boolean {
  try {
    // Never opens an existing file: closing it again would drop the locks that this process holds on it.
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    const hint = 'create the folder, and give this user the right to write the file and its folder';
    throw new StorageError(`create ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: hasCode(error, 'EROFS') ? HINT_READ_ONLY : hint,
    });
  }
}

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
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => void db.close() };
}
