import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { open, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DaywalkError, messageOf, StorageError, UsageError } from './errors.ts';

/** Returns true for an error of the file system, or another one with a `code`, that has one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** A package that the program needs is missing or broken. Exit code 2. */
export function brokenInstallation(name: string, cause: unknown): UsageError {
  const [first = ''] = messageOf(cause).split('\n- ').join(' ').split('\nRequire stack');
  return new UsageError(`load ${name}: ${first.replaceAll('\n', ' ')}`, {
    cause,
    hint: `install daywalk again, with npm ci in a clone (${process.execPath} runs it)`,
  });
}

/** Readable only by its owner until the owner decides otherwise; a file that is replaced keeps its rights. */
const FILE_MODE = 0o600;

/**
 * Replaces a file at once and durably: after a kill or a power loss it is the old file or the new one. Returns its size.
 * @param rights its rights. Default: those of the old file; a new one is its owner's
 * @throws {UsageError} if the path is a folder or lies in none.
 * @throws {StorageError} if it cannot be written.
 */
export async function replaceFile(path: string, text: string, rights?: number): Promise<number> {
  // Containers that share a folder may have the same process ID, so the name is random.
  const part = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
  const bytes = Buffer.from(text);
  try {
    const kept = await modeOf(path);
    const mode = rights ?? kept;
    const file = await open(part, 'wx', mode);
    try {
      await file.writeFile(bytes);
      // The mask of the process may have removed rights that the old file had.
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
    syncPath(dirname(path));
    return bytes.length;
  } catch (error) {
    throw explainWriteError(error, path);
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

async function modeOf(path: string): Promise<number> {
  const existing = await stat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (existing === null) return FILE_MODE;
  if (existing.isFile()) return existing.mode & 0o777;
  throw new UsageError(`write ${path}: it is ${existing.isDirectory() ? 'a folder' : 'no file'}`, {
    hint: 'name a file',
  });
}

/** Removes a file below a folder, and the folders between them that are empty without it. A file that is not there is no error. */
export async function removeBelow(directory: string, path: string): Promise<void> {
  await rm(join(directory, path), { force: true });
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    try {
      await rmdir(join(directory, folder));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) continue;
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return;
      throw error;
    }
  }
}

/** Makes sure, before long work, that a file may be created. @throws {UsageError} or {StorageError} */
export function expectFolderOf(path: string): void {
  try {
    accessSync(dirname(resolve(path)), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw explainWriteError(error, path);
  }
}

/** What to throw when a file cannot be written: a usage error if its folder does not exist, otherwise a storage error. */
export function explainWriteError(error: unknown, path: string): unknown {
  if (error instanceof DaywalkError || !(error instanceof Error) || !('code' in error)) return error;
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) {
    return new UsageError(`write ${path}: its folder does not exist`, {
      cause: error,
      hint: 'create the folder, or name another file',
    });
  }
  return new StorageError(`write ${path}: ${messageOf(error)}`, {
    cause: error,
    hint: 'free space there, and give this user the right to write in the folder',
  });
}

/**
 * Makes a file durable, or the names in a folder: without it a power loss may undo a write or a rename.
 * @throws {Error} of the file system.
 */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Maximum depth of a folder; no file system allows as many levels. */
const DEPTH_MAX = 4096;

/**
 * Describes the first folder on the way into `folder` that this user may not enter, with the IDs of the user and the owner;
 * undefined if there is none, or if it cannot be determined.
 */
export function closedFolder(folder: string): string | undefined {
  let closed: string | undefined;
  let path = resolve(folder);
  for (let depth = 0; depth < DEPTH_MAX && isClosed(path); depth += 1) {
    closed = path;
    path = dirname(path);
    if (path === closed) break;
  }
  return closed === undefined ? undefined : described(closed);
}

/** True for a folder in which this user may create files. */
export function mayWriteIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

/** True for a closed folder, and for every path below one. */
function isClosed(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return false;
  } catch (error) {
    return hasCode(error, 'EACCES');
  }
}

function described(path: string): string {
  const { uid, gid, mode } = statSync(path);
  const user = `uid ${process.getuid?.() ?? '?'}, gid ${process.getgid?.() ?? '?'}`;
  const rights = (mode & 0o7777).toString(8).padStart(4, '0');
  return `${user} may not enter the folder ${path} (owner ${uid}:${gid}, mode ${rights})`;
}

/** The remedy for a closed folder. */
export const HINT_CLOSED = 'give that folder to this user with chown, or run as its owner';

const isCompiled = !import.meta.url.endsWith('.ts');
/** The compiled program lies deeper in the package than its source. */
const LEVELS_MAX = 5;

/** Finds the folder of this package. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < LEVELS_MAX && !existsSync(join(folder, 'package.json')); level += 1)
    folder = dirname(folder);
  return folder;
}

/** The version that a bundle was built with. */
declare const DAYWALK_VERSION: string | undefined;

/** Reads the version of this package. */
export function packageVersion(): string {
  if (typeof DAYWALK_VERSION === 'string') return DAYWALK_VERSION;
  const { version }: { version?: unknown } = JSON.parse(
    readFileSync(join(packageFolder(), 'package.json'), 'utf8'),
  );
  return typeof version === 'string' ? version : 'unknown';
}

/** Returns the path of a file or folder of the program, named by its source path: `schema/migrations/sqlite`. */
export function programPath(path: string): string {
  return join(packageFolder(), isCompiled ? 'dist' : '', path);
}

/** Returns the path of a script of the built program, named by its source path. The file exists only after a build. */
export function builtScript(path: string): string {
  return join(packageFolder(), 'dist', `${path}.js`);
}

/** Returns the path of a script of the program, named by its source path without extension: `src/cli/main`. */
export function programScript(path: string): string {
  return programPath(`${path}${isCompiled ? '.js' : '.ts'}`);
}
