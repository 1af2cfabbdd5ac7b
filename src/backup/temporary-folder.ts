import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, StorageError } from '../core/errors.ts';

/**
 * Does work in a new folder that only this user may enter, and that is removed with everything in it.
 * @throws {StorageError} if there is no folder for temporary files that this user may write.
 */
export async function inTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-')).catch((cause: unknown) => {
    throw new StorageError(`create a folder in ${tmpdir()}: ${messageOf(cause)}`, {
      cause,
      hint: 'set TMPDIR to a folder that this user may write, with room for what is restored or checked',
    });
  });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
