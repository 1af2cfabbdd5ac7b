import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { DaywalkError, messageOf, StorageError, UsageError } from '../../core/errors.ts';
import { syncPath } from '../../core/sync-path.ts';
import { MANIFEST_FILE, type Manifest, manifestText, parseManifest } from './manifest.ts';

/** Names that a folder may hold and still count as empty: Daywalk's own files, hidden files, and those of a new disk. */
const IN_EMPTY_FOLDER = /^(_daywalk\..*|\..*|lost\+found)$/;

const FOLDER_MODE = 0o700;

/**
 * Creates the folder of a lake if it is missing.
 * @throws {UsageError} when it holds something else, or is not a folder.
 */
export async function openFolder(directory: string): Promise<void> {
  await makeFolder(directory);
  await expectOurs(directory);
}

async function makeFolder(directory: string): Promise<void> {
  try {
    // A lake names people: other users may read it only after its owner has opened the folder to them.
    await mkdir(directory, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'ENOTDIR')) throw error;
    throw new UsageError(`${directory} is not a folder`, {
      cause: error,
      hint: 'name a folder; it is created if it does not exist',
      reason: 'lake-not-a-folder',
    });
  }
}

async function expectOurs(directory: string): Promise<void> {
  if ((await readManifest(directory)) !== undefined) return;
  const foreign = (await readdir(directory)).find((name) => !IN_EMPTY_FOLDER.test(name));
  if (foreign === undefined) return;
  throw new UsageError(`${directory} is not a lake of daywalk: it holds ${foreign}`, {
    hint: 'name a new or an empty folder',
    reason: 'lake-folder-taken',
  });
}

/** Reads the manifest of a lake; returns undefined if there is none. */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  const path = join(directory, MANIFEST_FILE);
  try {
    return parseManifest(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Replaces the manifest of a lake durably: after a power loss the folder has this manifest or the one before. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const path = join(directory, MANIFEST_FILE);
  const file = await open(`${path}.part`, 'w');
  try {
    await file.writeFile(manifestText(manifest));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
  syncPath(directory);
}

/** Runs work on a path. Turns errors of the file system and of the lock into a {@link StorageError} with path and remedy. */
export async function explained<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isOfStorage(error)) throw error;
    throw new StorageError(`publish to ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: hasCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')
        ? 'free space there, then run again: every file is complete, and the rest follows'
        : 'give this user the right to write the folder and everything in it, then run again',
    });
  }
}

/** Returns true for errors of the file system and of SQLite, which makes the lock. */
function isOfStorage(error: unknown): boolean {
  if (error instanceof DaywalkError || !(error instanceof Error) || !('code' in error)) return false;
  return 'syscall' in error || String(error.code).startsWith('SQLITE_');
}
