import { statSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import Sqlite from 'better-sqlite3';
import { type Clock, onAbort, SerialQueue } from '../../core/clock.ts';
import type { Reason } from '../../core/errors.ts';
import { isBusy, storageError } from '../../core/sqlite-files.ts';
import { FileGuard, openFile } from './file.ts';

/** Marks a file as a warehouse of this program ("DWLK"). */
export const APPLICATION_ID = 0x44574c4b;

/** How long a transaction waits for another process that writes. */
const BUSY_WAIT_MS = 30_000;
/** The same once this process must stop: enough for a writer that is about to finish. */
const BUSY_WAIT_STOPPED_MS = 1_000;
const BUSY_PAUSE_MS = 50;

export interface ConnectionOptions extends LogWatchOptions {
  readonly clock: Clock;
  /** Create the file if it does not exist. */
  readonly create: boolean;
  /** Open it for reading only. @default false */
  readonly readOnly?: boolean | undefined;
  /** See `OpenOptions.leavesNoTrace`. @default false */
  readonly leavesNoTrace?: boolean | undefined;
  /**
   * The file that must be at the path, as {@link fileAt} identifies it.
   * @default any file
   */
  readonly file?: string | undefined;
  /** Aborted when the process must stop; this shortens the wait for another writer. */
  readonly signal?: AbortSignal | undefined;
}

/** An open SQLite file with its prepared statements and its transactions. */
export class Connection {
  readonly #statements = new Map<string, Statement<unknown[]>>();
  readonly db: Database;
  readonly path: string;
  /** The file at the path when it was opened, see {@link fileAt}. */
  readonly file: string | undefined;
  /** True if this connection created the file. */
  readonly isNew: boolean;
  readonly #guard: FileGuard;
  #hasWritten = false;
  readonly clock: Clock;
  readonly #log: LogWatch;
  #stoppedAtMs = Number.POSITIVE_INFINITY;
  readonly #queue = new SerialQueue();
  readonly #unlisten: () => void;

  constructor(path: string, options: ConnectionOptions) {
    this.path = path;
    this.clock = options.clock;
    const { db, file, isNew } = openFile(path, options);
    this.#unlisten = onAbort(options.signal, () => {
      this.#stoppedAtMs = this.clock.monotonicMs();
    });
    this.db = db;
    this.isNew = isNew;
    this.file = file;
    this.#guard = new FileGuard(db, path, options.file ?? file);
    this.#log = new LogWatch(db, path, options);
  }

  /** The prepared statement of `sql`. Reads return objects. */
  prepare(sql: string): Statement<unknown[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.db.prepare<unknown[]>(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** As {@link prepare}, but reads return arrays in the order of the columns. */
  prepareRows(sql: string): Statement<unknown[]> {
    const cached = this.#statements.get(`rows:${sql}`);
    if (cached !== undefined) return cached;
    const statement = this.db.prepare<unknown[]>(sql).raw();
    this.#statements.set(`rows:${sql}`, statement);
    return statement;
  }

  /**
   * Runs `work` in one transaction. It takes the write lock at once, because SQLite may refuse a transaction that
   * reads first and writes later. Transactions run one at a time, in the order of the calls. Waits for another
   * writer, up to {@link BUSY_WAIT_MS}.
   */
  transaction<Result>(doing: string, work: () => Result): Promise<Result> {
    return this.#queue.add(() => this.#transact(doing, work));
  }

  /**
   * Runs a read between two transactions: it sees only what is committed. The driver would refuse the next
   * transaction while a statement is open, so the read must finish at once.
   */
  readInTurn<Result>(doing: string, work: () => Result): Promise<Result> {
    return this.#queue.add(async () => this.read(doing, work));
  }

  /** Runs work that writes to the same file through another connection, when it is its turn. */
  runInTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.add(async () => {
      const result = await work();
      this.#log.look();
      return result;
    });
  }

  async #transact<Result>(doing: string, work: () => Result): Promise<Result> {
    this.#guard.expectInPlace(doing);
    this.#hasWritten = true;
    await this.#begin(doing);
    const result = this.#commit(doing, work);
    this.#guard.expectInPlace(doing);
    this.#log.look();
    return result;
  }

  #commit<Result>(doing: string, work: () => Result): Result {
    try {
      const result = work();
      this.db.exec('COMMIT');
      return result;
    } catch (error) {
      this.rollback();
      throw storageError(error, doing, this.path);
    }
  }

  /** Ends a snapshot or a transaction. A damaged file refuses COMMIT, and that must not hide the results of reads. */
  rollback(): void {
    try {
      if (this.db.inTransaction) this.db.exec('ROLLBACK');
    } catch (error) {
      // The caller must see the first error. SQLite rolls back by itself when the file closes.
      if (!(error instanceof Sqlite.SqliteError)) throw error;
    }
  }

  /** @throws {StorageError} when the path leads to another file than the open one, or to none. */
  expectInPlace(doing: string): void {
    this.#guard.expectInPlace(doing);
  }

  /**
   * Lets readers and the writer work at the same time. This alters the file, so call it only for a known warehouse.
   */
  useLog(): void {
    this.read('open', () => this.db.pragma('journal_mode = WAL'));
  }

  /** Runs a read and explains its errors. */
  read<Result>(doing: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw storageError(error, doing, this.path);
    }
  }

  /** Runs reads in one transaction, so that all of them see the same state. */
  async snapshot<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      this.begin();
      return await read();
    } catch (error) {
      throw storageError(error, 'read', this.path);
    } finally {
      this.rollback();
    }
  }

  /** Begins a snapshot, see {@link snapshot}. */
  begin(): void {
    this.read('read', () => this.db.exec('BEGIN'));
  }

  /**
   * Closes the file.
   * @throws {StorageError} when something was written and the path leads to another file by now, or to none.
   */
  close(): void {
    try {
      if (this.#hasWritten && this.db.open) this.#guard.expectInPlace('close');
    } finally {
      this.#unlisten();
      this.#statements.clear();
      this.db.close();
    }
  }

  async #begin(doing: string): Promise<void> {
    const since = this.clock.monotonicMs();
    for (;;) {
      try {
        this.db.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        const nowMs = this.clock.monotonicMs();
        const isOver = nowMs - since >= BUSY_WAIT_MS || nowMs - this.#stoppedAtMs >= BUSY_WAIT_STOPPED_MS;
        if (!isBusy(error) || isOver) throw storageError(error, doing, this.path);
      }
      await this.clock.sleep(BUSY_PAUSE_MS);
    }
  }
}

/** Size from which the write-ahead log is truncated or reported, in bytes. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;

interface LogWatchOptions {
  /** @default {@link LOG_BYTES_MAX} */
  readonly logBytesMax?: number | undefined;
  /** Called with problems that the owner of the machine should know about, and their remedies. */
  readonly warn?: ((message: string, hint: string, reason?: Reason) => void) | undefined;
}

/**
 * Reports a growing write-ahead log. SQLite cannot empty the log while another program reads in one long transaction,
 * and writes continue. Warns each time that the log has doubled.
 */
class LogWatch {
  readonly #db: Database;
  readonly #path: string;
  readonly #warn: LogWatchOptions['warn'];
  #bytesMax: number;

  constructor(db: Database, path: string, { logBytesMax = LOG_BYTES_MAX, warn }: LogWatchOptions) {
    this.#db = db;
    this.#path = path;
    this.#bytesMax = logBytesMax;
    this.#warn = warn;
  }

  /** Call after a commit. Never throws: the commit is safe. */
  look(): void {
    const bytes = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes <= this.#bytesMax || this.#isCutBack()) return;
    this.#bytesMax = 2 * bytes;
    this.#warn?.(
      `the write-ahead log of ${this.#path} has grown to ${Math.ceil(bytes / 1024 / 1024)} MB: another program keeps a long read transaction open`,
      'end the transaction of that program, or let it read a copy made with daywalk publish',
      'log-cannot-shrink',
    );
  }

  #isCutBack(): boolean {
    try {
      const [result] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as { readonly busy: number }[];
      return result?.busy === 0;
    } catch (error) {
      if (isBusy(error)) return false;
      // The next write fails in the same way and reports it.
      return true;
    }
  }
}
