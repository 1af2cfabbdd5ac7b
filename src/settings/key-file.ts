import { basename } from 'node:path';
import { messageOf, UsageError } from '../core/errors.ts';
import { type BoundedFileKind, readBoundedFile } from './bounded-file.ts';

/** A key is short: a longer file is not a key file. */
const KEY_FILE: BoundedFileKind = { noun: 'key file', holds: 'the key alone', bytesMax: 16 * 1024 };

/** The content of a key file, and whether other users can read it. */
export interface KeyFile {
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
