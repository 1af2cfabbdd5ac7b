import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { messageOf, StorageError, UsageError } from '../core/errors.ts';
import { replaceFile } from '../core/files.ts';

/** The largest hooks file that is read. */
const HOOKS_FILE_BYTES_MAX = 4 * 1024 * 1024;

/** The text of a file on disk. */
export interface StoredFile {
  /** Its real path, with symbolic links resolved. */
  readonly path: string;
  /** '' for a file that does not exist. */
  readonly text: string;
  readonly exists: boolean;
}

/**
 * Reads a hooks file; a missing file counts as empty.
 * @throws {UsageError} when it cannot be read, is not UTF-8, or is too large for a hooks file.
 */
export function readStored(path: string): StoredFile {
  try {
    // A link that leads nowhere is not missing: the new file would take its place.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { path, text: '', exists: false };
    const real = realpathSync(path);
    const stats = statSync(real);
    // Reading a FIFO may never end.
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > HOOKS_FILE_BYTES_MAX) throw new Error(`it is larger than ${HOOKS_FILE_BYTES_MAX} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(real));
    return { path: real, text, exists: true };
  } catch (error) {
    throw new UsageError(`read the hooks file ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give the path of a JSON file that this user may read',
    });
  }
}

/**
 * Replaces the text of a file atomically: readers see the old or the new text, also after a power loss. Its mode stays, and
 * the old text is kept beside it in a file with `.bak` added to the name. Call while the file is locked, so that no other
 * Daywalk process changes it.
 * @throws {UsageError} when another program has changed it since it was read.
 * @throws {StorageError} when it cannot be written; it is then unchanged.
 */
export async function replaceStored({ path, text: before, exists }: StoredFile, text: string): Promise<void> {
  const now = readStored(path);
  if (now.text !== before || now.exists !== exists) {
    throw new UsageError(`write the hooks file ${path}: another program has changed it meanwhile`, {
      hint: 'run the command again',
    });
  }
  try {
    if (exists) await replaceFile(`${path}.bak`, before, statSync(path).mode & 0o777);
    await replaceFile(path, text);
  } catch (error) {
    throw new StorageError(`write the hooks file ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'create its folder, and give this user the right to write in it',
    });
  }
}
