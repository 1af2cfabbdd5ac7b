import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { messageOf, UsageError } from '../core/errors.ts';

/** A key is short: a longer file is not a key file. */
const KEY_FILE_BYTES_MAX = 16 * 1024;
const READABLE_BY_OTHERS = 0o044;
/** The mode of a secret that is mounted for the group of a container's user: owned by root, and not writable. */
const MOUNTED_SECRET = 0o440;

/** The content of a key file, and whether other users can read it. */
export interface KeyFile {
  readonly text: string;
  readonly readableByOthers: boolean;
}

/**
 * Reads a key file.
 * @throws {UsageError} if it cannot be read or is too large; the error shows the path, never the content
 */
export function readKeyFile(path: string): KeyFile {
  try {
    return readBounded(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`read the key file ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give the path of a file that holds the key alone and that this user may read',
    });
  }
}

function readBounded(path: string): KeyFile {
  requireRegular(statSync(path), path);
  // Between the two checks it may become a FIFO; opening one waits for a writer and cannot be interrupted.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    requireRegular(fstatSync(file), path);
    const buffer = Buffer.alloc(KEY_FILE_BYTES_MAX + 1);
    const length = readSync(file, buffer);
    if (length > KEY_FILE_BYTES_MAX) {
      throw new UsageError(`the key file ${path} is larger than ${KEY_FILE_BYTES_MAX} bytes`, {
        hint: 'give the path of a file that holds the key alone',
      });
    }
    return {
      text: buffer.toString('utf8', 0, length),
      readableByOthers: isReadableByOthers(fstatSync(file).mode),
    };
  } finally {
    closeSync(file);
  }
}

/** Reading a FIFO or a device may never end, and blocks signals meanwhile. */
function requireRegular(status: Stats, path: string): void {
  if (status.isFile()) return;
  throw new UsageError(`the key file ${path} is not a regular file`, {
    hint: 'give the path of a file that holds the key alone; a FIFO, a device or a folder is not read',
  });
}

function isReadableByOthers(mode: number): boolean {
  if (process.platform === 'win32' || (mode & 0o777) === MOUNTED_SECRET) return false;
  return (mode & READABLE_BY_OTHERS) !== 0;
}
