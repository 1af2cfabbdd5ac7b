import { existsSync, mkdirSync, realpathSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { BusyError, StorageError, UsageError } from '../core/errors.ts';
import { explainWriteError, syncPath } from '../core/files.ts';
import { createPrivately, type FileLock, tryFileLock } from '../core/sqlite-files.ts';

const FOLDER_MODE = 0o700;
/** The log, and SQLite's temporary file, become as large as the file. */
const COPIES = 2;
/** Processes that write one archive at a time. */
const WRITERS_MAX = 256;

/**
 * The file of an archive: the path, if it ends in `.db`, or `archive.db` in a folder.
 * @throws {UsageError} if the folder holds what an earlier build has written.
 */
export function fileOfArchive(given: string): string {
  const path = given.endsWith('.db') ? given : join(given, 'archive.db');
  // Two names of one file must not have two locks.
  if (existsSync(path)) return realpathSync(path);
  const isEarlier = ['objects', 'index'].some((name) => existsSync(join(given, name)));
  if (path === given || !isEarlier) return path;
  throw new UsageError(
    `${given} is an archive of an earlier build; keep it elsewhere or delete it, erase cannot sweep it`,
    { hint: 'name another file or folder' },
  );
}

/** True if something was written into the file of an archive. */
export function isWritten(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Creates the file of an archive, and its folder, unless they exist. A power loss does not take them away.
 * @throws {UsageError} if it is on a network.
 * @throws {StorageError} if it cannot be created.
 */
export function createPlace(given: string): string {
  const path = fileOfArchive(given);
  const folder = dirname(resolve(path));
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new UsageError(`the archive ${path} is a folder`, { hint: 'name a file, or another folder' });
  try {
    makeDurableFolder(folder);
    expectLocal(path);
    if (createPrivately(path)) syncPath(folder);
    return path;
  } catch (error) {
    throw explainWriteError(error, path);
  }
}

/** Creates a folder and those above it, if they do not exist, so that a power loss does not take them away. */
function makeDurableFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let folder = dirname(resolve(path)); folder !== above; folder = dirname(folder)) syncPath(folder);
  syncPath(above);
}

/** The types of network file systems on Linux (linux/magic.h): their locks do not hold between machines, and their logs tear. */
const NETWORK_TYPES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'SMB',
};

/** @throws {UsageError} if a file is on a network. */
export function expectLocal(path: string): void {
  const type = statfsSync(dirname(resolve(path))).type >>> 0;
  const name = NETWORK_TYPES[type];
  if (name === undefined) return;
  throw new UsageError(`the archive ${path} is on ${name}, and needs a local disk`, {
    hint: 'put it on a disk of this machine; workers on several machines have one archive each',
  });
}

/** @throws {StorageError} if there is no room to write the file again. */
export function expectRoom(path: string): void {
  const { size, dev } = statSync(path);
  const folder = dirname(resolve(path));
  const places = statSync(tmpdir()).dev === dev ? [folder] : [folder, tmpdir()];
  for (const place of places) {
    const { bavail, bsize } = statfsSync(place);
    const needed = (size * COPIES) / places.length;
    if (bavail * bsize >= needed) continue;
    throw new StorageError(
      `write ${path} again: ${place} has ${bavail * bsize} free bytes, and ${needed} are needed`,
      { hint: 'free space there; nothing was changed' },
    );
  }
}

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
