import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { isBusy } from './errors.ts';

/** Bytes of the write-ahead log from which on it is cut back, or told of. */
export const LOG_BYTES_MAX = 64 * 1024 * 1024;

/** How the log is watched. */
export interface LogWatchOptions {
  /** Default: {@link LOG_BYTES_MAX}. */
  readonly logBytesMax?: number | undefined;
  /** Told what the owner of the machine should know, with the remedy. */
  readonly warn?: ((message: string, hint: string) => void) | undefined;
}

/**
 * Keeps the write-ahead log of a file from growing without a word: SQLite cannot empty it while another program reads
 * in one long transaction, and writes go on meanwhile. Warns each time that it has doubled.
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

  /** Call after a commit. Never throws: what was committed is safe. */
  look(): void {
    const bytes = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes <= this.#bytesMax || this.#isCutBack()) return;
    this.#bytesMax = 2 * bytes;
    this.#warn?.(
      `the write-ahead log of ${this.#path} has grown to ${Math.ceil(bytes / 1024 / 1024)} MB: another program has been reading for long`,
      'end the transaction of that program, or let it read a copy made with daywalk publish',
    );
  }

  #isCutBack(): boolean {
    try {
      const [result] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as { readonly busy: number }[];
      return result?.busy === 0;
    } catch (error) {
      if (isBusy(error)) return false;
      // The next write of the run meets the same trouble, and is heard.
      return true;
    }
  }
}
