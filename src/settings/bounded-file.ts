import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { UsageError } from '../core/errors.ts';

const READABLE_BY_OTHERS = 0o044;
/** The mode of a secret that is mounted for the group of a container's user: owned by root, and not writable. */
const MOUNTED_SECRET = 0o440;

/** The content of a file, and whether other users can read it. */
export interface BoundedFile {
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
