import { existsSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import Sqlite from 'better-sqlite3';
import { NoWarehouseError, StorageError, UsageError } from '../../core/errors.ts';
import { closedFolder, HINT_CLOSED } from '../../core/files.ts';
import { createPrivately, openCopy, storageError } from '../../core/sqlite-files.ts';

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

interface OpenFileOptions {
  /** Create the file if it does not exist. */
  readonly create: boolean;
  /** Open it for reading only. @default false */
  readonly readOnly?: boolean | undefined;
  /** Create no log beside it, if it is opened for reading only. @default false */
  readonly leavesNoTrace?: boolean | undefined;
}

interface OpenFile {
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
export function openFile(path: string, options: OpenFileOptions): OpenFile {
  const { create, readOnly = false } = options;
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
    const opened = { ...openUnreplaced(path, options), isNew };
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
  { create, readOnly = false, leavesNoTrace }: OpenFileOptions,
): Omit<OpenFile, 'isNew'> {
  for (let attempt = 1; attempt <= OPEN_ATTEMPTS_MAX; attempt += 1) {
    const file = fileAt(path);
    const db =
      (readOnly ? openCopy(realPath(path), leavesNoTrace) : undefined) ??
      new Sqlite(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: !create, readonly: readOnly });
    if (fileAt(path) === file) return { db, file };
    db.close();
  }
  throw new StorageError(`open the warehouse ${path}: another program keeps replacing the file`, {
    hint: 'end the program that replaces it, then run again',
  });
}

/** The side files of SQLite, which it finds by the name of the file. */
const SIDE_SUFFIXES = ['-wal', '-shm', '-journal'];

/**
 * Refuses a file with several names (hard links). SQLite and the run lock keep side files for each name, so two names
 * would be two writers that do not see each other. Symbolic links are fine: they are resolved first.
 * @throws {UsageError} that names the file.
 */
function refuseHardLinks(path: string): void {
  for (const suffix of ['', ...SIDE_SUFFIXES]) {
    const stats = statsOf(suffix === '' ? path : `${realPath(path)}${suffix}`);
    if (stats === undefined || !stats.isFile() || stats.nlink <= 1) continue;
    throw new UsageError(`the file ${path}${suffix} has ${stats.nlink} names (hard links)`, {
      hint: `keep one name and remove the others (find DIR -samefile ${path}${suffix} lists them), or replace them by symbolic links (ln -s)`,
    });
  }
}

/** What happened to a file while it was open. */
type Loss = 'missing' | 'replaced' | 'log';

/**
 * Makes sure that a path still leads to the open file. SQLite keeps writing to a file that was removed, moved or
 * replaced, and reports success.
 */
export class FileGuard {
  readonly #db: Database;
  readonly #path: string;
  readonly #logPath: string;
  readonly #opened: string | undefined;
  /** The write-ahead log; it exists from the first transaction until the file is closed. */
  #log: string | undefined;

  /** @param opened the file at the path when `db` was opened, see {@link fileAt}. */
  constructor(db: Database, path: string, opened: string | undefined) {
    this.#db = db;
    this.#path = path;
    this.#logPath = `${realPath(path)}-wal`;
    this.#opened = opened;
  }

  /**
   * Call outside of a transaction, before the first write and after each commit.
   * @throws {StorageError} if the path no longer leads to the open file. Everything committed is in the open file,
   * wherever it is.
   */
  expectInPlace(doing: string): void {
    const loss = this.#loss();
    if (loss !== undefined) throw this.#explained(doing, loss);
  }

  #loss(): Loss | undefined {
    const found = fileAt(this.#path);
    if (found === undefined) return 'missing';
    if (found !== this.#opened) return 'replaced';
    const log = fileAt(this.#logPath);
    this.#log ??= log;
    return log === this.#log ? undefined : 'log';
  }

  #explained(doing: string, loss: Loss): StorageError {
    const isWhole = this.#emptyLog();
    const incomplete = 'its last commits may be missing: check it with daywalk verify';
    const [what, hint] = {
      missing: [
        'the file was removed or moved while it was in use',
        `if it was moved, ${isWhole ? 'all that was committed is in it' : incomplete}: move it back and run again. If it was removed, restore a backup first, or let the next run export everything again`,
      ],
      replaced: [
        'another file was put in its place while it was in use',
        `the next run continues with the new file. If the old one was kept, ${isWhole ? 'all that was committed is in it' : incomplete}`,
      ],
      log: [
        `${this.#logPath} was removed or replaced while it was in use`,
        `run again, and leave the files beside the warehouse alone; in the warehouse, ${isWhole ? 'all that was committed is there' : incomplete}`,
      ],
    }[loss];
    return new StorageError(`${doing} ${this.#path}: ${what}`, { hint });
  }

  /**
   * Moves committed data from the log into the open file. A program that opens the file under its new name would not
   * find the log, and a program that opens another file under the old name would use the log for that file.
   */
  #emptyLog(): boolean {
    try {
      const [result] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as { log: number; checkpointed: number }[];
      return result !== undefined && result.log === result.checkpointed;
    } catch (error) {
      if (error instanceof Sqlite.SqliteError) return false;
      throw error;
    }
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Opening the file reports why it cannot be reached.
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Identifies the file that a path leads to; undefined if there is none, or if this user may not see it. */
function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
