import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf, UsageError } from '../core/errors.ts';

/** A key is short: a longer file is not a key file. */
const KEY_FILE: BoundedFileKind = { noun: 'key file', holds: 'the key alone', bytesMax: 16 * 1024 };

/** The content of a key file, and whether other users can read it. */
interface KeyFile {
  readonly text: string;
  readonly readableByOthers: boolean;
}

/**
 * Reads a key file.
 * @throws {UsageError} if it cannot be read or is too large; the error never shows the content, and the path only if it cannot be
 *   the key itself, written where the path belongs
 */
export function readKeyFile(path: string): KeyFile {
  try {
    const { bytes, readableByOthers } = readBoundedFile(path, KEY_FILE);
    return { text: bytes.toString('utf8'), readableByOthers };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (mayBeKey(path)) {
      throw new UsageError(
        'read the key file: there is none; the value may be the key itself, so it is not shown',
        {
          hint: 'write the key into a file and give its path, or give the key with DAYWALK_API_KEY',
        },
      );
    }
    throw new UsageError(`read the key file ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give the path of a file that holds the key alone and that this user may read',
    });
  }
}

/** Letters and digits without an extension, as keys have them and names of files seldom. */
const LIKE_A_KEY = /^(?=.*\d)[\w-]{16,}$/;

/** True if the name of a file that cannot be read may be a key, written where its path belongs. */
export function mayBeKey(path: string): boolean {
  return LIKE_A_KEY.test(basename(path));
}

const READABLE_BY_OTHERS = 0o044;
/** The mode of a secret that is mounted for the group of a container's user: owned by root, and not writable. */
const MOUNTED_SECRET = 0o440;

/** The content of a file, and whether other users can read it. */
interface BoundedFile {
  readonly bytes: Buffer;
  readonly readableByOthers: boolean;
}

/** How to name a file in errors, and how large it may be. */
export interface BoundedFileKind {
  /** For example `key file`. */
  readonly noun: string;
  /** What such a file holds, for the hint. */
  readonly holds: string;
  readonly bytesMax: number;
}

/**
 * Reads a short file.
 * @throws {UsageError} if it is too large, or not a regular file. @throws the error of the system if it cannot be read.
 */
export function readBoundedFile(path: string, kind: BoundedFileKind): BoundedFile {
  const { noun, holds, bytesMax } = kind;
  requireRegular(statSync(path), path, kind);
  // Between the two checks it may become a FIFO; opening one waits for a writer and cannot be interrupted.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    requireRegular(fstatSync(file), path, kind);
    const buffer = Buffer.alloc(bytesMax + 1);
    const length = readSync(file, buffer);
    if (length > bytesMax) {
      throw new UsageError(`the ${noun} ${path} is larger than ${bytesMax} bytes`, {
        hint: `give the path of a file that holds ${holds}`,
      });
    }
    return { bytes: buffer.subarray(0, length), readableByOthers: isReadableByOthers(fstatSync(file).mode) };
  } finally {
    closeSync(file);
  }
}

/** Reading a FIFO or a device may never end, and blocks signals meanwhile. */
function requireRegular(status: Stats, path: string, { noun, holds }: BoundedFileKind): void {
  if (status.isFile()) return;
  throw new UsageError(`the ${noun} ${path} is not a regular file`, {
    hint: `give the path of a file that holds ${holds}; a FIFO, a device or a folder is not read`,
  });
}

function isReadableByOthers(mode: number): boolean {
  if (process.platform === 'win32' || (mode & 0o777) === MOUNTED_SECRET) return false;
  return (mode & READABLE_BY_OTHERS) !== 0;
}
