import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import Sqlite from 'better-sqlite3';
import type { Clock } from './clock.ts';
import { BusyError, DamagedError, DaywalkError, messageOf, StorageError, UsageError } from './errors.ts';
import { hasCode, mayWriteIn } from './files.ts';

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

const HINTS: readonly [RegExp, string][] = [
  [/^SQLITE_FULL/, 'free space on this disk, then run again: it resumes'],
  [/^SQLITE_(READONLY|PERM|AUTH)/, 'give this user the right to write the file and its folder'],
  [/^SQLITE_CANTOPEN/, 'create the folder, and check that this user may write in it'],
  [DAMAGED, 'restore the file from a backup, or export again into a new one'],
  [/^SQLITE_IOERR/, 'check the disk and its free space, then run again: it resumes'],
];

/** True if another connection holds a lock that is needed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}

/** True if a connection that may only read needs the shared memory of the log, and cannot create or recover it. */
export function isLogMissing(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(CANTOPEN|READONLY_)/.test(error.code);
}

/** Turns an error of SQLite into one that names the file and the remedy. Returns other errors unchanged. */
export function storageError(error: unknown, doing: string, path: string): unknown {
  if (error instanceof DaywalkError || !(error instanceof Sqlite.SqliteError)) return error;
  if (isBusy(error)) {
    return new BusyError(`${doing} ${path}: another program holds the database`, {
      cause: error,
      hint: 'end the program that writes to it, then run again',
    });
  }
  const hint = isReadOnly(path) ? HINT_READ_ONLY : HINTS.find(([pattern]) => pattern.test(error.code))?.[1];
  const Kind = DAMAGED.test(error.code) ? DamagedError : StorageError;
  return new Kind(`${doing} ${path}: ${messageOf(error)} (${error.code})`, {
    cause: error,
    hint: hint ?? 'run again: what was committed is safe',
  });
}

/** The remedy for a read-only file system, for which SQLite reports several errors. */
export const HINT_READ_ONLY =
  'the file system is read-only: mount it for writing, or put the file on another one';

function isReadOnly(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return hasCode(error, 'EROFS');
  }
}

/**
 * Creates a SQLite file with access for its owner only, because it names people. SQLite gives its side files the same
 * mode. False if the file exists.
 */
export function createPrivately(path: string): boolean {
  try {
    // Never opens an existing file: closing it again would drop the locks that this process holds on it.
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw notCreated(error, path);
  }
}

function notCreated(error: unknown, path: string): StorageError {
  const hint = 'create the folder, and give this user the right to write the file and its folder';
  return new StorageError(`create ${path}: ${messageOf(error)}`, {
    cause: error,
    hint: hasCode(error, 'EROFS') ? HINT_READ_ONLY : hint,
  });
}

/**
 * Makes sure that this user could write a SQLite file, or create it. Opens and creates nothing.
 * @throws {StorageError} if not.
 */
export function expectWritableFile(path: string): void {
  const isThere = existsSync(path);
  try {
    // SQLite creates its log, and the run lock, beside the file.
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    if (isThere) accessSync(path, constants.W_OK);
  } catch (error) {
    if (!isThere) throw notCreated(error, path);
    const hint = hasCode(error, 'EROFS')
      ? HINT_READ_ONLY
      : 'give this user the right to write the file and its folder';
    throw new StorageError(`write ${path}: ${messageOf(error)}`, { cause: error, hint });
  }
}

/** A lock that the operating system frees when its holder ends in any way, so that no lock is ever stale. */
export interface FileLock {
  release(): void;
}

/**
 * Takes an exclusive lock on a file beside the locked one; creates the file if needed and leaves it there. Returns null if
 * the lock is held already, in this or another process.
 * @throws {Error} with the code of the file system or SQLite, if the file cannot be created or written
 */
export function tryFileLock(path: string): FileLock | null {
  // SQLite silently takes no lock on a read-only file.
  accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  // Node cannot lock files, but SQLite can: an exclusive transaction on an empty database writes nothing.
  const db = new Sqlite(path, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => void db.close() };
}

/** How long to wait for a lock. An edit takes milliseconds, so a process that holds it for seconds is stuck. */
const WAIT_MS_MAX = 5_000;
const PAUSE_MS = 20;

/**
 * Runs `edit` while no other Daywalk process edits a file. The lock is a file beside it, which is removed afterwards.
 * The operating system frees the lock when the process ends, even if it is killed.
 * @throws {UsageError} when others hold the lock for five seconds.
 * @throws {StorageError} when the lock file cannot be created.
 */
export async function whileLocked<Result>(
  path: string,
  clock: Clock,
  edit: () => Result | Promise<Result>,
): Promise<Result> {
  const lockPath = `${path}.lock`;
  const since = clock.monotonicMs();
  let lock = lockAt(path, lockPath);
  while (lock === null) {
    if (clock.monotonicMs() - since >= WAIT_MS_MAX)
      throw new UsageError(`write ${path}: another daywalk process holds its lock`, {
        hint: 'run the command again; end the other process if it is stuck',
      });
    await clock.sleep(PAUSE_MS);
    lock = lockAt(path, lockPath);
  }
  try {
    return await edit();
  } finally {
    // Removed before the release: a process that waits for this file then sees that it is no longer the lock file.
    rmSync(lockPath, { force: true });
    lock.release();
  }
}

/** Takes the lock. Returns null if another process holds it, or has just removed the file. */
function lockAt(path: string, lockPath: string): FileLock | null {
  try {
    createPrivately(lockPath);
    return lockUnremoved(lockPath);
  } catch (error) {
    const hint = 'create its folder, and give this user the right to write in it';
    throw new StorageError(`write ${path}: ${messageOf(error)}`, { cause: error, hint });
  }
}

function lockUnremoved(lockPath: string): FileLock | null {
  const opened = identityOf(lockPath);
  if (opened === undefined) return null;
  try {
    const lock = tryFileLock(lockPath);
    if (lock === null || identityOf(lockPath) === opened) return lock;
    lock.release();
  } catch (error) {
    // SQLite fails in several ways if the holder removes the file during the attempt.
    if (identityOf(lockPath) === opened) throw error;
  }
  return null;
}

/** File systems reuse the inode of a removed file, but not its creation time. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.birthtimeNs}`;
}

/** The largest file that is read as a whole: SQLite holds no larger database in memory. */
const COPY_BYTES_MAX = 1024 ** 3;
/** The largest one that is read as a whole only to leave no trace: it takes twice as much memory. */
const TRACELESS_BYTES_MAX = 256 * 1024 ** 2;
/** A file that was just changed may be changed again without another time of change, until the clock of the file system ticks. */
const CLOCK_TICK_MS = 20;
/** A run that begins meanwhile changes the file, and after that its log can be read. */
const ATTEMPTS_MAX = 5;

/** Bytes of the header: the versions for writing and reading, 1 without and 2 with a log, and the counter of changes. */
const HEADER_BYTES = 100;
const VERSIONS_AT = 18;
const WITHOUT_LOG = 1;
const WITH_LOG = 2;
const COUNTER_AT = 24;

/**
 * Opens a SQLite file for reading in a folder where this user may not write, while nobody has it open. SQLite cannot: it would
 * create the shared memory of the log. So the file is read as a whole into memory, and marked there as one without a log.
 * Undefined if SQLite can open the file itself.
 * @param path of the file, without symbolic links.
 * @param leavesNoTrace create no log where this user may write either. @default false
 * @throws {StorageError} if this user may not read it, if it is too large, or if its log cannot be read alone.
 * @throws {BusyError} if it keeps changing.
 */
export function openCopy(path: string, leavesNoTrace = false): Database | undefined {
  expectReadable(path);
  const bytesMax = leavesNoTrace ? TRACELESS_BYTES_MAX : COPY_BYTES_MAX;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    if ((!leavesNoTrace && mayWriteIn(dirname(path))) || hasWholeLog(path)) return undefined;
    // Without a log file nobody has the warehouse open, this process neither: only then may its file be opened and closed here.
    // Closing it would drop the locks that this process holds on it, and a writer would remove a log that is still read.
    if (existsSync(`${path}-wal`)) {
      if (attempt === ATTEMPTS_MAX) throw abandonedLog(path);
      // A writer may be about to create the shared memory, or to remove the log.
      pause(CLOCK_TICK_MS);
      continue;
    }
    if (!needsLog(path)) return undefined;
    const content = readUnchanged(path, bytesMax);
    if (content === null) continue;
    content.fill(WITHOUT_LOG, VERSIONS_AT, VERSIONS_AT + 2);
    return new Sqlite(content);
  }
  throw new BusyError(`open the warehouse ${path}: it changes while it is read`, {
    hint: 'run the command again',
  });
}

function expectReadable(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      accessSync(file, constants.R_OK);
    } catch (error) {
      // The program that writes may remove its log at any moment, and create it again.
      if (hasCode(error, 'ENOENT') || !existsSync(file)) continue;
      throw new StorageError(`open the warehouse ${path}: ${messageOf(error)}`, {
        cause: error,
        hint: `give this user the right to read ${file}`,
      });
    }
  }
}

function hasWholeLog(path: string): boolean {
  return existsSync(`${path}-wal`) && existsSync(`${path}-shm`);
}

function abandonedLog(path: string): StorageError {
  return new StorageError(
    `open the warehouse ${path}: its log needs ${path}-shm, and this user may not create it`,
    { hint: 'let a user who may write there open it once, with any command' },
  );
}

/** True if SQLite would have to create a log. */
function needsLog(path: string): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return header[VERSIONS_AT] === WITH_LOG;
}

/** The content of a file that nobody has changed while it was read; null if somebody has. */
function readUnchanged(path: string, bytesMax: number): Buffer | null {
  const file = openSync(path, 'r');
  try {
    const start = stateOf(file);
    if (start.size > bytesMax) throw tooLarge(path, bytesMax);
    pause(CLOCK_TICK_MS);
    if (stateOf(file).text !== start.text) return null;
    const content = readFileSync(file);
    const end = stateOf(file);
    const isSame = start.text === end.text && content.readUInt32BE(COUNTER_AT) === end.counter;
    return isSame && !existsSync(`${path}-wal`) && content.length === end.size ? content : null;
  } finally {
    closeSync(file);
  }
}

function stateOf(file: number) {
  const { size, mtimeNs, ino, dev } = fstatSync(file, { bigint: true });
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(file, header, 0, HEADER_BYTES, 0);
  const counter = header.readUInt32BE(COUNTER_AT);
  return {
    size: Number(size),
    counter,
    text: [dev, ino, size, mtimeNs, counter].join(' '),
  };
}

function tooLarge(path: string, bytesMax: number): StorageError {
  const mebibytes = bytesMax / 1024 ** 2;
  if (bytesMax === TRACELESS_BYTES_MAX)
    return new StorageError(
      `open ${path}: above ${mebibytes} MiB it cannot be read without a trace while nobody has it open`,
      { reason: 'read-leaves-trace' },
    );
  return new StorageError(
    `open the warehouse ${path}: this user may not write in its folder, and without a run under way a file above ${mebibytes / 1024} GiB cannot be read there`,
    { hint: 'read a published copy', reason: 'read-too-large' },
  );
}

/** Opening a file is synchronous, as all of SQLite is here. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
