import { mkdir, readdir } from 'node:fs/promises';
import { hasCode } from '../../core/error-code.ts';
import { messageOf, StorageError, UsageError } from '../../core/errors.ts';

/** Readable only by its owner until the owner decides otherwise. */
const FOLDER_MODE = 0o700;

/**
 * Creates the folder of reports if it is missing.
 * @throws {UsageError} if the path is something else.
 * @throws {StorageError} if it cannot be created.
 */
export async function openFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTDIR')) {
      throw new UsageError(`${folder} is not a folder`, {
        cause: error,
        hint: 'name a folder; it is created if it does not exist',
      });
    }
    throw new StorageError(`create ${folder}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give this user the right to write there',
    });
  }
}

/** The HTML files of a folder that are not among the given ones. */
export async function otherReports(folder: string, own: ReadonlySet<string>): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => /^[^.].*\.html$/i.test(name) && !own.has(name)).toSorted();
}
