import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { Clock } from '../../core/clock.ts';
import { SerialQueue } from '../../core/serial-queue.ts';
import { isBusy, storageError } from './errors.ts';
import { FileGuard } from './file-guard.ts';
import { LogWatch, type LogWatchOptions } from './log-watch.ts';
import { openFile } from './open-file.ts';

/** Marks a file as a warehouse of this program ("DWLK"). */
export const APPLICATION_ID = 0x44574c4b;

/** How long a foreign writer is waited for. */
const BUSY_WAIT_MS = 30_000;
/** The same once the process was asked to stop: enough for a writer that is about to finish. */
const BUSY_WAIT_STOPPED_MS = 1_000;
const BUSY_PAUSE_MS = 50;

/** How to open a file. */
export interface ConnectionOptions extends LogWatchOptions {
  readonly clock: Clock;
  /** Create the file where it does not exist. */
  readonly create: boolean;
  /** The {@link fileAt} the path that must be found there. Default: whatever is there. */
  readonly file?: string | undefined;
  /** Aborted when the process was asked to stop; cuts the wait for a foreign writer short. */
  readonly signal?: AbortSignal | undefined;
}

/** An open SQLite file: its statements, prepared once, and its transactions. */
export class Connection {
  readonly #statements = new Map<string, Statement<unknown[]>>();
  readonly db: Database;
  readonly path: string;
  /** The {@link fileAt} the path when it was opened. */
  readonly file: string | undefined;
  /** True where this connection created the file. */
  readonly isNew: boolean;
  readonly #guard: FileGuard;
  #hasWritten = false;
  readonly #clock: Clock;
  readonly #log: LogWatch;
  #stoppedAtMs = Number.POSITIVE_INFINITY;
  readonly #queue = new SerialQueue();

  constructor(path: string, options: ConnectionOptions) {
    this.path = path;
    this.#clock = options.clock;
    options.signal?.addEventListener('abort', () => {
      this.#stoppedAtMs = this.#clock.monotonicMs();
    });
    const { db, file, isNew } = openFile(path, options.create);
    this.db = db;
    this.isNew = isNew;
    this.file = file;
    this.#guard = new FileGuard(db, path, options.file ?? file);
    this.#log = new LogWatch(db, path, options);
  }

  /** The prepared statement of `sql`; results of reads are objects. */
  prepare(sql: string): Statement<unknown[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.db.prepare<unknown[]>(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** As {@link prepare}, for reads whose results are arrays in the order of the columns. */
  prepareRows(sql: string): Statement<unknown[]> {
    const cached = this.#statements.get(`rows:${sql}`);
    if (cached !== undefined) return cached;
    const statement = this.db.prepare<unknown[]>(sql).raw();
    this.#statements.set(`rows:${sql}`, statement);
    return statement;
  }

  /**
   * Runs `work` in one transaction that takes the write lock at once: a transaction that reads first and writes
   * later can be refused without waiting. One at a time, in the order of the calls; waits for a foreign writer, up to
   * {@link BUSY_WAIT_MS}.
   */
  transaction<Result>(doing: string, work: () => Result): Promise<Result> {
    return this.#queue.add(() => this.#transact(doing, work));
  }

  /**
   * Runs a read between transactions, at once: it sees what is committed, and no statement is open when the next one
   * begins, which the driver would refuse.
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
      this.#rollback();
      throw storageError(error, doing, this.path);
    }
  }

  #rollback(): void {
    try {
      if (this.db.inTransaction) this.db.exec('ROLLBACK');
    } catch (error) {
      // What made the transaction fail is what the caller must hear; SQLite rolls back by itself when the file closes.
      if (!(error instanceof Sqlite.SqliteError)) throw error;
    }
  }

  /** @throws {StorageError} when the path leads to another file than the open one, or to none. */
  expectInPlace(doing: string): void {
    this.#guard.expectInPlace(doing);
  }

  /** Lets readers and the writer work at once. It alters the file, which must be known to be a warehouse by then. */
  useLog(): void {
    this.read('open', () => this.db.pragma('journal_mode = WAL'));
  }

  /** Runs a read, its errors explained. */
  read<Result>(doing: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw storageError(error, doing, this.path);
    }
  }

  /** Runs reads in one transaction, so that all see the same state. */
  async snapshot<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      this.db.exec('BEGIN');
      return await read();
    } catch (error) {
      throw storageError(error, 'read', this.path);
    } finally {
      // Nothing was written. A damaged file refuses COMMIT, which must not hide what the reads have found.
      this.#rollback();
    }
  }

  /**
   * Closes the file.
   * @throws {StorageError} when something was written and the path leads to another file by now, or to none.
   */
  close(): void {
    try {
      if (this.#hasWritten && this.db.open) this.#guard.expectInPlace('close');
    } finally {
      this.#statements.clear();
      this.db.close();
    }
  }

  async #begin(doing: string): Promise<void> {
    const since = this.#clock.monotonicMs();
    for (;;) {
      try {
        this.db.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        const nowMs = this.#clock.monotonicMs();
        const isOver = nowMs - since >= BUSY_WAIT_MS || nowMs - this.#stoppedAtMs >= BUSY_WAIT_STOPPED_MS;
        if (!isBusy(error) || isOver) throw storageError(error, doing, this.path);
      }
      await this.#clock.sleep(BUSY_PAUSE_MS);
    }
  }
}
