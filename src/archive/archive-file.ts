import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { Clock } from '../core/clock.ts';
import { BusyError, StorageError, UsageError } from '../core/errors.ts';
import { explainWriteError, syncPath } from '../core/files.ts';
import { createPrivately, isBusy, openCopy, storageError } from '../core/sqlite-files.ts';
import { checksumOf } from './answers.ts';
import { expectLocal, fileOfArchive, isWritten } from './archive-place.ts';

/** Marks a file as an archive of this program ("DWAR"). */
const APPLICATION_ID = 0x44574152;
const VERSION = 1;
const PAGE_BYTES = 16_384;
const FOLDER_MODE = 0o700;

/** SQLite's own wait blocks the process, so it is short. */
const BUSY_TIMEOUT_MS = 10;
/** While a sweep rewrites the file, runs wait: 17 s for each gigabyte. */
const BUSY_WAIT_MS = 300_000;
/** The same once this process must stop. */
const BUSY_WAIT_STOPPED_MS = 1_000;
const BUSY_PAUSE_MS = 20;

/**
 * The tables. Every row but those of objects, whose digest is their key, has a checksum. `outcomes` has a row for each answer
 * from its beginning, so a row that is missing is damage, and one that is undecided is what a kill leaves.
 */
const SCHEMA = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE erased (id INTEGER PRIMARY KEY CHECK (id = 1), list TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE writers (slot INTEGER PRIMARY KEY, writer TEXT NOT NULL);
CREATE TABLE objects (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 BLOB NOT NULL, codec TEXT NOT NULL, bytes BLOB NOT NULL);
CREATE INDEX objects_sha256 ON objects (sha256);
CREATE TABLE answers (
  id INTEGER PRIMARY KEY AUTOINCREMENT, org TEXT NOT NULL, unit TEXT NOT NULL, at TEXT NOT NULL,
  body TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX answers_unit ON answers (org, unit, at);
CREATE TABLE outcomes (answer INTEGER PRIMARY KEY, outcome TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX outcomes_undecided ON outcomes (answer) WHERE outcome = 'undecided';
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};
`;

/** How long a transaction may wait for another process. */
export interface Patience {
  readonly clock: Clock;
  /** Aborted when the process must stop; this shortens the wait. */
  readonly signal: AbortSignal;
}

/** An open archive. */
export class ArchiveFile {
  readonly path: string;
  readonly db: Database;
  readonly #statements = new Map<string, Statement<unknown[]>>();

  private constructor(path: string, db: Database) {
    this.path = path;
    this.db = db;
  }

  /**
   * Opens an archive to read it.
   * @param leavesNoTrace create no log beside it, see `OpenOptions`. @default false
   * @throws {UsageError} if there is none.
   */
  static read(given: string, leavesNoTrace = false): ArchiveFile {
    return ArchiveFile.#existing(given, true, leavesNoTrace);
  }

  /**
   * Opens an archive to change it.
   * @throws {UsageError} if there is none, or if it is on a network.
   */
  static write(given: string): ArchiveFile {
    return ArchiveFile.#existing(given, false);
  }

  /**
   * Opens an archive to change it, and creates it if there is none.
   * @throws {UsageError} if the file is no archive, or is on a network.
   */
  static create(given: string): ArchiveFile {
    const path = createPlace(given);
    return ArchiveFile.#opened(path, (db) => {
      if (hasTables(db)) return;
      db.pragma(`page_size = ${PAGE_BYTES}`);
      db.pragma('auto_vacuum = INCREMENTAL');
      db.pragma('journal_mode = WAL');
      db.transaction(() => {
        if (!hasTables(db)) db.exec(SCHEMA);
      }).immediate();
    });
  }

  static #existing(given: string, readonly: boolean, leavesNoTrace = false): ArchiveFile {
    const path = fileOfArchive(given);
    if (!isWritten(path)) throw new UsageError(`there is no archive at ${path}`, { reason: 'no-archive' });
    if (!readonly) expectLocal(path);
    let isArchive = false;
    const file = ArchiveFile.#opened(
      path,
      (db) => {
        isArchive = hasTables(db);
      },
      { readonly, leavesNoTrace },
    );
    if (isArchive) return file;
    file.close();
    throw new UsageError(`there is no archive at ${path}`, { reason: 'no-archive' });
  }

  static #opened(
    path: string,
    prepare: (db: Database) => void,
    { readonly, leavesNoTrace } = { readonly: false, leavesNoTrace: false },
  ): ArchiveFile {
    let db: Database | undefined;
    try {
      db =
        (leavesNoTrace ? openCopy(path, true) : undefined) ??
        new Sqlite(path, { readonly, fileMustExist: true, timeout: BUSY_WAIT_STOPPED_MS });
      if (readonly) acceptDamage(db);
      expectKnown(path, db);
      prepare(db);
      if (!readonly) {
        db.pragma('synchronous = FULL');
        db.pragma('secure_delete = ON');
      }
      db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      return new ArchiveFile(path, db);
    } catch (error) {
      db?.close();
      throw storageError(error, 'open the archive', path);
    }
  }

  /** The prepared statement of `sql`. Reads return arrays in the order of the columns, or the only column as a `value`. */
  prepare(sql: string, reads: 'rows' | 'value' = 'rows'): Statement<unknown[]> {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.db.prepare<unknown[]>(sql);
    if (reads === 'value') statement.pluck();
    else if (statement.reader) statement.raw();
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs a read and explains its errors. */
  query<Result>(doing: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw storageError(error, doing, this.path);
    }
  }

  /** Runs reads that see one state, whatever other processes write meanwhile. */
  inSnapshot<Result>(read: () => Result): Result {
    if (this.db.inTransaction) return this.query('read', read);
    this.holdSnapshot();
    try {
      return this.query('read', read);
    } finally {
      this.db.exec('ROLLBACK');
    }
  }

  /** All later reads see one state, until the archive is closed. */
  holdSnapshot(): void {
    this.query('read', () => this.db.exec('BEGIN'));
  }

  /** Runs work in one transaction, whole or not at all. Waits for other processes, up to {@link BUSY_WAIT_MS}. */
  async transact<Result>(doing: string, patience: Patience, work: () => Result): Promise<Result> {
    return this.whenFree(doing, patience, () => this.db.transaction(work).immediate());
  }

  /** Tries work until no other process holds the file. */
  async whenFree<Result>(doing: string, { clock, signal }: Patience, work: () => Result): Promise<Result> {
    const sinceMs = clock.monotonicMs();
    for (;;) {
      try {
        return work();
      } catch (error) {
        const waitMs = signal.aborted ? BUSY_WAIT_STOPPED_MS : BUSY_WAIT_MS;
        if (!isBusy(error) || clock.monotonicMs() - sinceMs >= waitMs)
          throw storageError(error, doing, this.path);
      }
      await clock.sleep(BUSY_PAUSE_MS);
    }
  }

  /** What the archive remembers under a name; null if nothing. @throws {DamagedError} if the row is damaged. */
  meta(name: string): string | null {
    const row = this.query('read', () =>
      this.prepare('SELECT value, checksum FROM meta WHERE name = ?').get(name),
    );
    if (!Array.isArray(row)) return null;
    const [value, checksum] = row;
    if (checksum === checksumOf(name, String(value))) return String(value);
    throw new StorageError(`read ${this.path}: what it says about "${name}" is damaged`, {
      hint: 'restore the archive from a backup',
    });
  }

  /** Remembers a value. Call it inside a transaction. */
  setMeta(name: string, value: string): void {
    this.prepare('INSERT OR REPLACE INTO meta (name, value, checksum) VALUES (?, ?, ?)').run(
      ...[name, value, checksumOf(name, value)],
    );
  }

  /** Bytes of pages that nothing uses. */
  freeBytes(): number {
    const [pages, bytes] = ['freelist_count', 'page_size'].map((name) =>
      Number(this.db.pragma(name, { simple: true })),
    );
    return (pages ?? 0) * (bytes ?? 0);
  }

  /** The largest ID that a row of a table has had. */
  lastId(table: 'answers' | 'objects' = 'answers'): number {
    return Number(this.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?', 'value').get(table) ?? 0);
  }

  /**
   * Moves everything from the log into the file.
   * @throws {BusyError} while a reader needs the log.
   */
  emptyLog(): void {
    const [result] = this.query('empty the log of', () => this.db.pragma('wal_checkpoint(TRUNCATE)')) as {
      readonly busy: number;
    }[];
    if (result?.busy === 0) return;
    throw new BusyError(`empty the log of ${this.path}: another program reads the archive`, {
      hint: 'end that program and repeat the command: it resumes',
    });
  }

  close(): void {
    this.#statements.clear();
    this.db.close();
  }
}

/** Opens an archive, uses it, and closes it again. */
export async function withArchive<Result>(
  file: ArchiveFile,
  use: (file: ArchiveFile) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await use(file);
  } finally {
    file.close();
  }
}

/**
 * Puts another file in the place of an archive, at once and durably, and removes what was there.
 * @param write writes the file that comes instead. Its name ends in `.db`.
 */
export async function replaceArchive(path: string, write: (part: string) => Promise<void>): Promise<void> {
  const part = path.replace(/\.db$/, '.part.db');
  removeFiles(part, ['', ...LOG]);
  await write(part);
  syncPath(part);
  // SQLite would take the log of the old file for one of the new.
  removeFiles(path, LOG);
  renameSync(part, path);
  syncPath(dirname(resolve(path)));
}

const LOG = ['-wal', '-shm'];

function removeFiles(path: string, ends: readonly string[]): void {
  for (const end of ends) rmSync(`${path}${end}`, { force: true });
}

/** Lets a file be read that ends too early. Nothing is written by this connection. */
function acceptDamage(db: Database): void {
  db.unsafeMode();
  db.pragma('writable_schema = ON');
}

function hasTables(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'outcomes_undecided'").get() !== undefined;
}

function expectKnown(path: string, db: Database): void {
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  if (isEmpty) return;
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID)
    throw new UsageError(`${path} is not an archive`, { hint: 'name another file' });
  if (Number(db.pragma('user_version', { simple: true })) > VERSION)
    throw new UsageError(`a newer version of daywalk has written the archive ${path}`, {
      hint: 'update daywalk',
    });
}

/**
 * Creates the file of an archive, and its folder, unless they exist. A power loss does not take them away.
 * @throws {UsageError} if it is on a network.
 * @throws {StorageError} if it cannot be created.
 */
export function createPlace(given: string): string {
  const path = placeOf(given);
  const folder = dirname(resolve(path));
  try {
    makeDurableFolder(folder);
    expectLocal(path);
    if (createPrivately(path)) syncPath(folder);
    return path;
  } catch (error) {
    throw explainWriteError(error, path);
  }
}

/**
 * Makes sure that a run could write an archive, or create it with its folder. Creates nothing.
 * @throws {UsageError} or {StorageError}, as {@link createPlace} does.
 */
export function expectWritable(given: string): void {
  const path = placeOf(given);
  let folder = dirname(resolve(path));
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    for (const place of existsSync(path) ? [folder, path] : [folder]) accessSync(place, constants.W_OK);
  } catch (error) {
    throw explainWriteError(error, path);
  }
  expectLocal(join(folder, basename(path)));
}

function placeOf(given: string): string {
  const path = fileOfArchive(given);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path;
  throw new UsageError(`the archive ${path} is a folder`, { hint: 'name a file, or another folder' });
}

/** Creates a folder and those above it, if they do not exist, so that a power loss does not take them away. */
function makeDurableFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let folder = dirname(resolve(path)); folder !== above; folder = dirname(folder)) syncPath(folder);
  syncPath(above);
}
