import { closeSync, existsSync, openSync } from 'node:fs';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { Clock } from '../../core/clock.ts';
import { messageOf, StorageError, UsageError } from '../../core/errors.ts';
import { isBusy, storageError } from './errors.ts';

/** Marks a file as a warehouse of this program ("DWLK"). */
export const APPLICATION_ID = 0x44574c4b;

/** How long a foreign writer is waited for. */
const BUSY_WAIT_MS = 30_000;
/** SQLite's own wait blocks the process, so it is short and the long wait is done outside, where signals are heard. */
const BUSY_TIMEOUT_MS = 100;
const BUSY_PAUSE_MS = 50;

/** An open SQLite file: its statements, prepared once, and its transactions. */
export class Connection {
  readonly #statements = new Map<string, Statement<unknown[]>>();
  readonly db: Database;
  readonly path: string;
  readonly #clock: Clock;

  constructor(path: string, options: { clock: Clock; create: boolean }) {
    this.path = path;
    this.#clock = options.clock;
    this.db = openFile(path, options.create);
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
   * later can be refused without waiting. Waits for a foreign writer, up to {@link BUSY_WAIT_MS}.
   */
  async transaction<Result>(doing: string, work: () => Result): Promise<Result> {
    await this.#begin(doing);
    try {
      const result = work();
      this.db.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.db.inTransaction) this.db.exec('ROLLBACK');
      throw storageError(error, doing, this.path);
    }
  }

  /** Runs a read, its errors explained. */
  read<Result>(doing: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw storageError(error, doing, this.path);
    }
  }

  close(): void {
    this.#statements.clear();
    this.db.close();
  }

  async #begin(doing: string): Promise<void> {
    const deadline = this.#clock.monotonicMs() + BUSY_WAIT_MS;
    for (;;) {
      try {
        this.db.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || this.#clock.monotonicMs() >= deadline)
          throw storageError(error, doing, this.path);
      }
      await this.#clock.sleep(BUSY_PAUSE_MS);
    }
  }
}

function openFile(path: string, create: boolean): Database {
  if (path === '' || path.startsWith(':') || path.startsWith('file:')) {
    throw new UsageError(`"${path}" is not a path of a SQLite file`, {
      hint: 'name a file, for example --warehouse daywalk.db',
    });
  }
  if (!create && !existsSync(path)) {
    throw new UsageError(`there is no warehouse at ${path}`, {
      hint: 'create it with daywalk run, or name another with --warehouse',
    });
  }
  createPrivately(path);
  try {
    const db = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS });
    db.pragma('journal_mode = WAL');
    // Every commit survives a power loss, for a tenth more time: what a run said it stored is stored.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    return db;
  } catch (error) {
    throw storageError(error, 'open the warehouse', path);
  }
}

/** Creates the file readable by its owner only, because it names people; SQLite gives its side files the same mode. */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new StorageError(`open the warehouse ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'create the folder, and give this user the right to write the file and its folder',
    });
  }
}
