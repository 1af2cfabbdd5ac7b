import { realpathSync, type Stats, statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { StorageError, UsageError } from '../../core/errors.ts';
import { fileAt } from './file-identity.ts';

/** The side files of SQLite, which it finds by the name of the file. */
const SIDE_SUFFIXES = ['-wal', '-shm', '-journal'];

/**
 * Refuses a file with several names (hard links). SQLite and the run lock keep side files for each name, so two names
 * would be two writers that do not see each other. Symbolic links are fine: they are resolved first.
 * @throws {UsageError} that names the file.
 */
export function refuseHardLinks(path: string): void {
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
