import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Reason } from '../../core/reasons.ts';
import { isBusy } from './errors.ts';

/** Size from which the write-ahead log is truncated or reported, in bytes. */
export const LOG_BYTES_MAX = 64 * 1024 * 1024;

export interface LogWatchOptions {
  /** @default {@link LOG_BYTES_MAX} */
  readonly logBytesMax?: number | undefined;
  /** Called with problems that the owner of the machine should know about, and their remedies. */
  readonly warn?: ((message: string, hint: string, reason?: Reason) => void) | undefined;
}

/**
 * Reports a growing write-ahead log. SQLite cannot empty the log while another program reads in one long transaction,
 * and writes continue. Warns each time that the log has doubled.
 */
export class LogWatch {
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
