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

/** A drain takes the file away between opening and writing at most once per drain; more is no drain. */
const ATTEMPTS_MAX = 20;

/**
 * Appends a record to the spool, durably: when this returns, the record survives any kill and a power loss.
 *
 * Many processes append at once: the file is opened for appending and each record is one write. A drain takes the
 * file by renaming it, and reads it afterwards. So a record counts once the file still stands at its path after the
 * write; otherwise it is written again, and the drain sees by the record's identity that both are one.
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
      // The rest could land behind another receiver's record. What was written is half a line, and is dropped.
      if (written < record.length) continue;
      fsyncSync(file);
      if (!standsAt(path, file)) continue;
    } finally {
      closeSync(file);
    }
    // Without it a power loss may take a new file's name away. It costs nothing when there is nothing to write.
    syncPath(directory);
    return;
  }
  throw new Error(`${path} could not be written whole in ${ATTEMPTS_MAX} attempts`);
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

// Not with its parents: where the warehouse's folder is missing there is no warehouse, and on some file systems Node
// tries for ever to make them.
function makeFolder(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another receiver was quicker.
    if (!existsSync(directory)) throw error;
  }
}

function standsAt(path: string, file: number): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const { ino, dev } = fstatSync(file);
  return there?.ino === ino && there.dev === dev;
}
