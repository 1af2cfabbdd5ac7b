import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { closedFolder, HINT_CLOSED } from '../../core/enterable.ts';
import { hasCode } from '../../core/error-code.ts';
import { messageOf, NoWarehouseError, StorageError, UsageError } from '../../core/errors.ts';
import { HINT_READ_ONLY, storageError } from './errors.ts';
import { refuseHardLinks } from './file-guard.ts';
import { fileAt } from './file-identity.ts';

/** SQLite's own wait blocks the process, so it is short. The long wait is outside, where signals are handled. */
const BUSY_TIMEOUT_MS = 10;

/** Pages of a dashboard read the same rows again and again. */
const READING_CACHE_KIB = 16_000;
/**
 * Rows come in the order of their keys, so few pages are in use at a time while a run writes. A larger cache would fill up for
 * nothing.
 */
export const WRITING_CACHE_KIB = 4_000;

/** Some file systems give a file a new number when it is first opened for writing. No file is replaced this often. */
const OPEN_ATTEMPTS_MAX = 3;

export interface OpenFileOptions {
  /** Create the file if it does not exist. */
  readonly create: boolean;
  /** Open it for reading only. @default false */
  readonly readOnly?: boolean | undefined;
}

export interface OpenFile {
  readonly db: Database;
  /** The file at its path, see {@link fileAt}. */
  readonly file: string | undefined;
  /** True if this call created it. */
  readonly isNew: boolean;
}

/**
 * Opens a SQLite file with settings for this connection only. Writes nothing to an existing file.
 * @throws {UsageError} if the path is not one of a file, if the file is missing (unless `create`), or if it has
 * several names.
 * @throws {StorageError} if it cannot be opened, or its folder cannot be entered.
 */
export function openFile(path: string, { create, readOnly = false }: OpenFileOptions): OpenFile {
  if (path === '' || path.startsWith(':') || path.startsWith('file:')) {
    throw new UsageError(`"${path}" is not a path of a SQLite file`, {
      hint: 'name a file, for example daywalk.db',
      reason: 'warehouse-path',
    });
  }
  refuseClosed(path);
  if (!create && !existsSync(path)) {
    throw new NoWarehouseError(path);
  }
  if (isFolder(path)) {
    throw new UsageError(`the warehouse ${path} is a folder`, {
      hint: `name a file in it, for example ${join(path, 'daywalk.db')}`,
      reason: 'warehouse-is-folder',
      facts: { file: join(path, 'daywalk.db') },
    });
  }
  // SQLite creates the target of a symbolic link that leads nowhere yet.
  const isNew = create && createPrivately(path);
  refuseHardLinks(path);
  try {
    const opened = { ...openUnreplaced(path, { create, readOnly }), isNew };
    const { db } = opened;
    db.pragma(`cache_size = -${readOnly ? READING_CACHE_KIB : WRITING_CACHE_KIB}`);
    if (readOnly) return opened;
    // Every commit survives a power loss. This takes a tenth more time.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    return opened;
  } catch (error) {
    throw storageError(error, 'open the warehouse', path);
  }
}

/** In a folder that cannot be entered, an existing file looks like a missing one. */
function refuseClosed(path: string): void {
  const closed = closedFolder(dirname(path));
  if (closed === undefined) return;
  throw new StorageError(`open the warehouse ${path}: ${closed}`, { hint: HINT_CLOSED });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Opening the path reports why it cannot be examined.
    return false;
  }
}

/** Opens a file and makes sure that it was at the path at that time. */
function openUnreplaced(
  path: string,
  { create, readOnly = false }: OpenFileOptions,
): Omit<OpenFile, 'isNew'> {
  for (let attempt = 1; attempt <= OPEN_ATTEMPTS_MAX; attempt += 1) {
    const file = fileAt(path);
    const db = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: !create, readonly: readOnly });
    if (fileAt(path) === file) return { db, file };
    db.close();
  }
  throw new StorageError(`open the warehouse ${path}: another program keeps replacing the file`, {
    hint: 'end the program that replaces it, then run again',
  });
}

/**
 * Creates the file with access for its owner only, because it names people. SQLite gives its side files the same
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
    throw new StorageError(`open the warehouse ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: hasCode(error, 'EROFS') ? HINT_READ_ONLY : hint,
    });
  }
}
