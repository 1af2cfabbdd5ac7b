import { existsSync, rmSync } from 'node:fs';
import { BusyError } from '../core/errors.ts';
import { explainWriteError } from '../core/files.ts';
import { type FileLock, tryFileLock } from '../core/sqlite-files.ts';
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
