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

/** A drain can rename the file between opening and writing once; more attempts in a row fail for another reason. */
const ATTEMPTS_MAX = 20;

/**
 * Appends a record to the spool durably: after it returns, the record survives any kill and a power loss.
 *
 * Many processes append at the same time, so each record is one write to a file opened for appending. A drain renames the
 * file and then reads it. So if the file is no longer at its path after the write, the drain may have missed the record, and
 * it is written again. The drain recognizes by its id that both are one event.
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
      // The rest could land behind a record of another receiver. The incomplete line is ignored by the drain.
      if (written < record.length) continue;
      fsyncSync(file);
      if (!standsAt(path, file)) continue;
    } finally {
      closeSync(file);
    }
    // Otherwise a power loss could remove the name of a new file. It costs nothing if there is nothing to write.
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

// Without parent folders: if the folder of the warehouse is missing, there is no warehouse, and on some file systems Node
// never stops trying to create them.
function makeFolder(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another receiver has created it first.
    if (!existsSync(directory)) throw error;
  }
}

function standsAt(path: string, file: number): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const { ino, dev } = fstatSync(file);
  return there?.ino === ino && there.dev === dev;
}
