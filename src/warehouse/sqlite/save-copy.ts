import { chmodSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { BusyError, DaywalkError, messageOf, StorageError } from '../../core/errors.ts';
import { tryFileLock } from '../../core/file-lock.ts';
import { syncPath } from '../../core/sync-path.ts';
import type { SavedCopy } from '../port.ts';
import type { Connection } from './connection.ts';
import { COPY_MARK, expectCopy } from './copy-mark.ts';
import { storageError } from './errors.ts';
import { createPrivately } from './open-file.ts';

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
