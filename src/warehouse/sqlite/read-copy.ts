import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import Sqlite from 'better-sqlite3';
import { BusyError, messageOf, StorageError } from '../../core/errors.ts';
import { mayWriteIn } from '../../core/files.ts';

/** The largest file that is read as a whole: SQLite holds no larger database in memory. */
const COPY_BYTES_MAX = 1024 ** 3;
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
 * Opens a warehouse for reading in a folder where this user may not write, while nobody has it open. SQLite cannot: it would
 * create the shared memory of the log. So the file is read as a whole into memory, and marked there as one without a log.
 * Undefined if SQLite can open the file itself.
 * @param path of the file, without symbolic links.
 * @throws {StorageError} if this user may not read it, if it is too large, or if its log cannot be read alone.
 * @throws {BusyError} if it keeps changing.
 */
export function openCopy(path: string): Database | undefined {
  expectReadable(path);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    if (mayWriteIn(dirname(path)) || hasWholeLog(path)) return undefined;
    // Without a log file nobody has the warehouse open, this process neither: only then may its file be opened and closed here.
    // Closing it would drop the locks that this process holds on it, and a writer would remove a log that is still read.
    if (existsSync(`${path}-wal`)) {
      if (attempt === ATTEMPTS_MAX) throw abandonedLog(path);
      // A writer may be about to create the shared memory, or to remove the log.
      pause(CLOCK_TICK_MS);
      continue;
    }
    if (!needsLog(path)) return undefined;
    const content = readUnchanged(path);
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
      if (!existsSync(file)) continue;
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
function readUnchanged(path: string): Buffer | null {
  const file = openSync(path, 'r');
  try {
    const start = stateOf(file);
    if (start.size > COPY_BYTES_MAX) throw tooLarge(path);
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

function tooLarge(path: string): StorageError {
  return new StorageError(
    `open the warehouse ${path}: this user may not write in its folder, and without a run under way a file above 1 GiB cannot be read there`,
    { hint: 'read a published copy', reason: 'read-too-large' },
  );
}

/** Opening a file is synchronous, as all of SQLite is here. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
