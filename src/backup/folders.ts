import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, StorageError } from '../core/errors.ts';
import { explainWriteError } from '../core/files.ts';
import { tryFileLock } from '../core/sqlite-files.ts';

/** A name with the instant of a backup: `daywalk-20261125T031500Z.db`. */
export const DATED = /^daywalk-\d{8}T\d{6}Z\.db$/;
const FOLDER_MODE = 0o700;

/** The path of the backup of an instant in a folder, which is created if it does not exist. */
export function datedPath(folder: string, at: Date): string {
  try {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    throw explainWriteError(error, folder);
  }
  const instant = at.toISOString().replace(/[-:]|\.\d+/g, '');
  return join(folder, `daywalk-${instant}.db`);
}

/** The path of the archive that belongs to the backup at a path. */
export function archiveBeside(path: string): string {
  return path.replace(/(\.db)?$/, '.archive.db');
}

/** What a temporary folder is called, and the file in it whose lock its process holds. */
const TEMPORARY = /^daywalk-\w{6}$/;
const IN_USE = '.lock';

/**
 * Does work in a new folder that only this user may enter, and that is removed with everything in it; after a kill, by the next work.
 * @throws {StorageError} if there is no folder for temporary files that this user may write.
 */
export async function inTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-')).catch((cause: unknown) => {
    throw new StorageError(`create a folder in ${tmpdir()}: ${messageOf(cause)}`, {
      cause,
      hint: 'set TMPDIR to a folder that this user may write, with room for what is restored or checked',
    });
  });
  const lock = tryFileLock(join(folder, IN_USE));
  // Another process has just taken it for one that was left.
  if (lock === null) return inTemporaryFolder(work);
  try {
    await removeLeft();
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    lock.release();
  }
}

/** Removes the folders of processes that were killed: they name people. */
async function removeLeft(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const folder = join(tmpdir(), name);
    try {
      if (!TEMPORARY.test(name) || lstatSync(folder).uid !== process.getuid?.()) continue;
      const lock = existsSync(join(folder, IN_USE)) ? tryFileLock(join(folder, IN_USE)) : null;
      if (lock !== null) await rm(folder, { recursive: true, force: true }).finally(() => lock.release());
    } catch {
      // Its process has just removed it.
    }
  }
}
