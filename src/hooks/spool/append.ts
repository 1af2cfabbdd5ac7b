import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { syncPath } from '../../core/sync-path.ts';
import { SPOOL_BYTES_MAX } from '../limits.ts';
import { openRegular } from './open-regular.ts';

/** The file that receivers append to. */
export const OPEN_FILE = 'events.jsonl';

/** A drain that renames the file costs one attempt. Many failed attempts in a row have another cause. */
const ATTEMPTS_MAX = 20;

/**
 * Appends a record to the spool durably: after it returns, the record survives any kill and a power loss.
 *
 * Many processes append at the same time, so each record is one write to a file opened for appending. A drain renames the
 * file and then reads it. If the file is no longer at its path after the write, the drain may have missed the record, so
 * it is written again. If the drain did read it, both copies have the same ID and are stored once.
 * @throws {Error} of the file system when it cannot be stored.
 */
export function appendDurably(directory: string, record: Uint8Array): void {
  const path = join(directory, OPEN_FILE);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const file = openForAppend(directory, path);
    try {
      if (fstatSync(file).size > SPOOL_BYTES_MAX)
        throw new Error(`${path} is larger than ${SPOOL_BYTES_MAX} bytes; drain it with daywalk hooks drain`);
      const written = writeSync(file, record);
      // Another receiver may have written after the incomplete record, so the whole record is written again. The drain
      // ignores the incomplete line.
      if (written < record.length) continue;
      fsyncSync(file);
      if (!isStillAt(path, file)) continue;
    } finally {
      closeSync(file);
    }
    // Without this, a power loss could remove the name of a new file. It costs nothing if the folder has not changed.
    syncPath(directory);
    return;
  }
  throw new Error(`${path} could not be written in ${ATTEMPTS_MAX} attempts`);
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

function openForAppend(directory: string, path: string): number {
  try {
    return openRegular(path, APPEND);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  makeFolder(directory);
  return openRegular(path, APPEND);
}

// Does not create parent folders: without its folder there is no warehouse, and on some file systems Node never stops
// trying to create parents.
function makeFolder(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another receiver has created it first.
    if (!existsSync(directory)) throw error;
  }
}

function isStillAt(path: string, file: number): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const { ino, dev } = fstatSync(file);
  return there?.ino === ino && there.dev === dev;
}
