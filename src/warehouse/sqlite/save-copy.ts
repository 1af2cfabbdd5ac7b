import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { BusyError, DaywalkError, messageOf, StorageError, UsageError } from '../../core/errors.ts';
import { syncPath } from '../../core/files.ts';
import { createPrivately, storageError, tryFileLock } from '../../core/sqlite-files.ts';
import type { SavedCopy } from '../../port/index.ts';
import { APPLICATION_ID, type Connection } from './connection.ts';

/** Writes a copy of a warehouse and puts it in place by a rename, see `Warehouse.saveCopy`. */
export function saveCopy(connection: Connection, path: string): SavedCopy {
  try {
    const before = statSync(path, { throwIfNoEntry: false });
    const target = before === undefined ? path : realpathSync(path);
    if (before !== undefined) expectCopy(target, connection.path);
    return copyUnderLock(connection, { target, mode: before?.mode });
  } catch (error) {
    throw explain(error, path);
  }
}

interface Place {
  readonly target: string;
  /** The file mode of the copy to replace; undefined if there is none. */
  readonly mode: number | undefined;
}

function copyUnderLock(connection: Connection, place: Place): SavedCopy {
  const hidden = join(dirname(place.target), `.${basename(place.target)}`);
  const lock = tryFileLock(`${hidden}.lock`);
  if (lock === null) {
    throw new BusyError(`another publish writes ${place.target}`, {
      hint: 'wait for it to end, then run again',
    });
  }
  try {
    return writeCopy(connection, place, `${hidden}.part`);
  } finally {
    lock.release();
  }
}

function writeCopy(connection: Connection, { target, mode }: Place, part: string): SavedCopy {
  remove(part);
  try {
    createPrivately(part);
    // Unlike the warehouse, the copy is not in write-ahead mode: readers without write access to the folder could not open it.
    connection.prepare('VACUUM INTO ?').run(part);
    mark(part);
    if (mode !== undefined) chmodSync(part, mode & 0o777);
    syncPath(part);
    const { size } = statSync(part);
    renameSync(part, target);
    syncPath(dirname(target));
    return { path: target, bytes: size };
  } finally {
    remove(part);
  }
}

function mark(part: string): void {
  const copy = new Sqlite(part);
  try {
    copy.pragma(`user_version = ${COPY_MARK}`);
  } finally {
    copy.close();
  }
}

function remove(part: string): void {
  for (const side of ['', '-journal']) rmSync(`${part}${side}`, { force: true });
}

function explain(error: unknown, path: string): unknown {
  const known = storageError(error, 'copy the warehouse to', path);
  if (known instanceof DaywalkError || !(error instanceof Error) || !('code' in error)) return known;
  return new StorageError(`copy the warehouse to ${path}: ${messageOf(error)}`, {
    cause: error,
    hint: 'free space there, and give this user the right to write the file and its folder',
  });
}

/** The user version of a published copy ("COPY"). A warehouse in use never has it. */
const COPY_MARK = 0x434f5059;

/** Offsets in a SQLite file, see "The Database Header" in SQLite's file format. */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

/**
 * Refuses to replace a file unless it is an earlier published copy that no program writes to.
 * @throws {UsageError} that says what the file is.
 */
function expectCopy(path: string, warehousePath: string): void {
  const { dev, ino, isFile } = described(path);
  const own = described(warehousePath);
  if (own.dev === dev && own.ino === ino) {
    throw new UsageError(`${path} is the warehouse itself`, {
      hint: 'name another file',
      reason: 'publish-onto-warehouse',
    });
  }
  if (!isFile || !isCopy(path)) {
    throw new UsageError(`${path} is not a published copy of a warehouse`, {
      hint: 'name a new file, or remove this one first',
      reason: 'publish-onto-other-file',
    });
  }
  // SQLite would treat it as the log of the new copy.
  const log = [`${path}-wal`, `${path}-journal`].find((side) => existsSync(side));
  if (log !== undefined) {
    throw new UsageError(`another program writes to the copy: there is ${log}`, {
      hint: 'close it in that program; after a crash, remove the copy and this file',
    });
  }
}

function described(path: string): { dev: number; ino: number; isFile: boolean } {
  const stats = statSync(path);
  return { dev: stats.dev, ino: stats.ino, isFile: stats.isFile() };
}

function isCopy(path: string): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return (
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header.readUInt32BE(USER_VERSION_AT) === COPY_MARK &&
    header.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID
  );
}
