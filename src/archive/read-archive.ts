import { existsSync } from 'node:fs';
import { StorageError, UsageError } from '../core/errors.ts';
import { type IndexFile, indexFolder, missingFiles, readIndex } from './read-index.ts';

/**
 * Reads the index of an archive in which no line is lost. A torn last line is what a kill leaves; nothing relies on it.
 * @throws {UsageError} if there is no archive.
 * @throws {StorageError} if both copies of a line are damaged, or a file is missing.
 */
export async function readSoundIndex(archive: string): Promise<IndexFile[]> {
  expectArchive(archive);
  const files = await readIndex(archive);
  const [missing] = missingFiles(files);
  const damaged = files.find(({ isLossy }) => isLossy);
  if (missing === undefined && damaged === undefined) return files;
  const what = missing === undefined ? `a line of ${damaged?.path} is lost` : `${missing} is missing`;
  throw new StorageError(`read the index of the archive: ${what}`, {
    hint: 'restore the file from a backup; daywalk archive verify lists what is damaged',
  });
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
