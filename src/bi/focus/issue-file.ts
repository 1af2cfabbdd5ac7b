import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { UsageError } from '../../core/errors.ts';
import { explainWriteError } from '../../core/explain-write-error.ts';
import { syncPath } from '../../core/sync-path.ts';
import type { FocusRow } from './columns.ts';
import { digestOfFile } from './file-digest.ts';
import { formatOf } from './file-names.ts';
import { writeFocusCsv } from './write-csv.ts';
import { writeFocusParquet } from './write-parquet.ts';

/** Readable only by its owner, because it tells what each user costs. */
const FILE_MODE = 0o600;

/** A file after {@link issueFile}. */
export interface IssuedFile {
  readonly path: string;
  readonly bytes: number;
  /** True if the file was there already, with the same bytes. */
  readonly isUnchanged: boolean;
}

/**
 * Writes rows to a new file and puts it in place at once: it is whole or not there. A file that was issued is never
 * replaced, because corrections need it; the same rows again leave it as it is.
 * @throws {UsageError} if there is a file with another content, or no such folder.
 * @throws {StorageError} if the file cannot be written.
 */
export async function issueFile(
  path: string,
  batches: AsyncIterable<readonly FocusRow[]>,
): Promise<IssuedFile> {
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  try {
    await rm(part, { force: true });
    await write(part, path, batches);
    const { size: bytes } = await stat(part);
    const isUnchanged = await expectNewOrSame(path, part);
    if (isUnchanged) return { path, bytes, isUnchanged };
    await rename(part, path);
    syncPath(dirname(path));
    return { path, bytes, isUnchanged };
  } catch (error) {
    throw explainWriteError(error, path);
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

async function write(part: string, path: string, batches: AsyncIterable<readonly FocusRow[]>): Promise<void> {
  const created = await open(part, 'wx', FILE_MODE);
  await created.close();
  await (formatOf(path) === 'csv' ? writeFocusCsv(part, batches) : writeFocusParquet(part, batches));
}

async function expectNewOrSame(path: string, part: string): Promise<boolean> {
  const existing = await stat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (existing === null) return false;
  if (existing.isFile() && (await digestOfFile(path)) === (await digestOfFile(part))) return true;
  throw new UsageError(`${path} exists, and is not the file that would be written`, {
    hint: 'name a new file. To correct a file that was issued, write its corrections to a new file; to replace one that was not, remove it first',
  });
}
