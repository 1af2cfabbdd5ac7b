import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BusyError } from '../core/errors.ts';
import { type FileLock, tryFileLock } from '../core/file-lock.ts';
import { isWritten } from './index-files.ts';
import { expectArchive, readSoundIndex } from './read-archive.ts';
import type { IndexFile } from './read-index.ts';

/**
 * Changes the files of an archive while no run and no other process does. A run takes the lock of its own index file first
 * and looks at this one then; here it is the other way round. So one of them always sees the other.
 * @param change gets the index.
 * @throws {UsageError} if there is no archive.
 * @throws {BusyError} while a run writes the archive, or another process removes answers.
 * @throws {StorageError} if its index is damaged.
 */
export async function whileNoRunWrites<Result>(
  archive: string,
  change: (files: readonly IndexFile[]) => Promise<Result>,
): Promise<Result> {
  expectArchive(archive);
  const lock = takePruneLock(archive);
  try {
    if (await isWritten(archive))
      throw new BusyError(`a run writes the archive ${archive}`, { hint: 'wait for it to end' });
    // Only now the index cannot grow any more.
    return await change(await readSoundIndex(archive));
  } finally {
    lock.release();
  }
}

/** @throws {BusyError} while a process removes answers. */
export function expectNoPrune(archive: string): void {
  if (existsSync(lockOf(archive))) takePruneLock(archive).release();
}

function lockOf(archive: string): string {
  return join(archive, 'prune.lock');
}

function takePruneLock(archive: string): FileLock {
  const lock = tryFileLock(lockOf(archive));
  if (lock !== null) return lock;
  throw new BusyError(`another process removes answers from the archive ${archive}`, {
    hint: 'wait for it to end',
  });
}
