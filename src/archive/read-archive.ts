import { existsSync } from 'node:fs';
import { StorageError, UsageError } from '../core/errors.ts';
import { type IndexFile, indexFolder, readIndex } from './index-files.ts';

/**
 * Reads the index of an archive in which every line can be read. A torn last line is what a kill leaves; nothing relies on it.
 * @throws {UsageError} if there is no archive.
 * @throws {StorageError} if a line is damaged.
 */
export async function readSoundIndex(archive: string): Promise<IndexFile[]> {
  expectArchive(archive);
  const files = await readIndex(archive);
  const damaged = files.find(({ unreadable }) => unreadable.length > 0);
  if (damaged === undefined) return files;
  throw new StorageError(
    `read the index of the archive: line ${damaged.unreadable[0]} of ${damaged.path} is damaged`,
    { hint: 'restore the file from a backup; daywalk archive verify lists what else is damaged' },
  );
}

/** True if a run has written answers into a folder. */
export function hasAnswers(archive: string): boolean {
  return existsSync(indexFolder(archive));
}

/** @throws {UsageError} if there is no archive in a folder. */
export function expectArchive(archive: string): void {
  if (hasAnswers(archive)) return;
  throw new UsageError(`there is no archive in ${archive}`, { reason: 'no-archive' });
}
