import { closeSync, existsSync, fdatasync, openSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { BusyError, DefectError } from '../core/errors.ts';
import { explainWriteError } from '../core/files.ts';
import { type FileLock, tryFileLock } from '../core/sqlite-files.ts';
import type { ArchiveFile, Patience } from './archive-file.ts';
import { fileOfArchive } from './archive-place.ts';

/** Processes that write one archive at a time. */
const WRITERS_MAX = 256;

/**
 * Does what only one process at a time may do: remove answers, or rewrite them. Runs may write meanwhile.
 * @throws {BusyError} while another process does.
 */
export async function whileAlone<Result>(given: string, work: () => Promise<Result>): Promise<Result> {
  const path = fileOfArchive(given);
  const lock = lockAt(`${path}.lock`);
  if (lock === null) {
    throw new BusyError(`another process removes answers from the archive ${path}`, {
      hint: 'wait for it to end',
    });
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function lockAt(path: string): FileLock | null {
  try {
    return tryFileLock(path);
  } catch (error) {
    throw explainWriteError(error, path);
  }
}

/** The place of a writer among those that are alive. */
export interface WriterSlot {
  readonly slot: number;
  readonly lock: FileLock;
}

/**
 * Takes a place that no process that is alive has.
 * @throws {BusyError} if there are too many writers.
 */
export function takeSlot(path: string): WriterSlot {
  for (let slot = 1; slot <= WRITERS_MAX; slot += 1) {
    const lock = lockAt(slotPath(path, slot));
    if (lock !== null) return { slot, lock };
  }
  throw new BusyError(`${WRITERS_MAX} runs write the archive ${path} already`, {
    hint: 'wait for one to end',
  });
}

/** True while the process that has taken a slot is alive. */
export function isTaken(path: string, slot: number): boolean {
  if (!existsSync(slotPath(path, slot))) return false;
  const lock = tryFileLock(slotPath(path, slot));
  lock?.release();
  return lock === null;
}

/**
 * Puts another file in the place of an archive while no run writes it. A run takes its slot first and looks at the lock then;
 * here it is the other way round. So one of them always sees the other.
 * @throws {BusyError} while a run writes the archive.
 */
export async function whileNoRunWrites<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const lock = tryFileLock(replaceLock(path));
  try {
    for (let slot = 1; slot <= WRITERS_MAX; slot += 1)
      if (lock === null || isTaken(path, slot))
        throw new BusyError(`a run writes the archive ${path}`, { hint: 'wait for it to end' });
    return await work();
  } finally {
    lock?.release();
    if (lock !== null) rmSync(replaceLock(path), { force: true });
  }
}

/** @throws {BusyError} while another process replaces the file of an archive. */
export function expectNotReplaced(path: string): void {
  if (!existsSync(replaceLock(path))) return;
  const lock = tryFileLock(replaceLock(path));
  lock?.release();
  if (lock !== null) return;
  throw new BusyError(`another process writes the archive ${path} again`, { hint: 'wait for it to end' });
}

function replaceLock(path: string): string {
  return `${path}.replace.lock`;
}

function slotPath(path: string, slot: number): string {
  return `${path}.writer-${slot}.lock`;
}

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
