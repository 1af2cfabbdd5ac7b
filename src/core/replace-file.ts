import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from './error-code.ts';
import { UsageError } from './errors.ts';
import { explainWriteError } from './explain-write-error.ts';
import { syncPath } from './sync-path.ts';

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
