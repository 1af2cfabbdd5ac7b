import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { DefectError } from '../core/errors.ts';
import { explainWriteError } from '../core/files.ts';
import type { ArchiveFile, Patience } from './archive-file.ts';

/** A transaction begins once so many answers wait, or one has waited for so long. */
const ANSWERS_MIN = 8;
const WAIT_MS = 200;

interface Write {
  readonly answers: number;
  readonly apply: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Writes of one run. Those that wait together share a transaction and a sync, which takes longer than the writes. */
export class WriteQueue {
  readonly #file: ArchiveFile;
  readonly #patience: Patience;
  /** The log of the file, opened to sync it. */
  #log: number | undefined;
  #waiting: Write[] = [];
  #work: Promise<void> | undefined;
  /** Ends the wait for more answers. */
  #begin: (() => void) | undefined;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(file: ArchiveFile, { clock, signal }: Patience) {
    this.#file = file;
    this.#patience = { clock, signal };
    // A commit ends before it is on the disk, see sync.
    file.db.pragma('synchronous = NORMAL');
  }

  /**
   * Writes something durably. Writes are applied in the order of the calls.
   * @param answers how many it notes.
   * @throws {StorageError} if it cannot be written. Nothing is written later then.
   */
  add(answers: number, apply: () => void): Promise<void> {
    return new Promise((resolve, reject) => this.#push({ answers, apply, resolve, reject }));
  }

  /** Writes something with the next transaction. A failure is one of the calls that wait for it. */
  later(apply: () => void): void {
    this.#push({ answers: 0, apply, resolve: () => undefined, reject: () => undefined });
  }

  /**
   * Ends when everything is written. What is added later is refused.
   * @throws {StorageError} if the last writes failed.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const known = this.#failure;
    this.#begin?.();
    await this.#work;
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
    const failure = this.#failure;
    this.#failure ??= { error: new DefectError(`write ${this.#file.path}`, 'it is closed') };
    // Callers have got the errors from before.
    if (failure !== undefined && failure !== known) throw failure.error;
  }

  #push(write: Write): void {
    this.#waiting.push(write);
    if (this.#isDue()) this.#begin?.();
    this.#work ??= this.#writeAll();
  }

  #isDue(): boolean {
    return this.#isClosed || this.#waiting.reduce((sum, { answers }) => sum + answers, 0) >= ANSWERS_MIN;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (!this.#isDue()) await this.#waitForMore();
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        this.#failure ??= { error };
        for (const { reject } of group) reject(error);
      }
    }
    this.#work = undefined;
  }

  async #waitForMore(): Promise<void> {
    const stop = new AbortController();
    this.#begin = () => stop.abort();
    await this.#patience.clock.sleep(WAIT_MS, stop.signal).catch(() => undefined);
    this.#begin = undefined;
  }

  async #write(group: readonly Write[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    await this.#file.transact('archive answers in', this.#patience, () => {
      for (const { apply } of group) apply();
    });
    // Nobody relies on outcomes: the next run decides what has none.
    if (group.some(({ answers }) => answers > 0)) await this.#sync();
  }

  /**
   * Ends once everything that is committed is on the disk. Other work of this thread goes on meanwhile, unlike while SQLite syncs
   * the log itself. SQLite syncs it before it moves pages into the file and begins the log anew, so whatever is not in the log
   * is durable already.
   * @throws {StorageError} if it cannot be written.
   */
  async #sync(): Promise<void> {
    try {
      this.#log ??= openSync(`${this.#file.path}-wal`, 'r+');
      await promisify(fdatasync)(this.#log);
    } catch (error) {
      throw explainWriteError(error, this.#file.path);
    }
  }
}
