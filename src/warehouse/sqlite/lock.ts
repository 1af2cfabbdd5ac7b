import { realpathSync } from 'node:fs';
import { BusyError, messageOf, StorageError } from '../../core/errors.ts';
import { type FileLock, tryFileLock } from '../../core/file-lock.ts';
import { storageError } from './errors.ts';
import { createPrivately } from './open-file.ts';

/**
 * Takes the run lock of a warehouse, on a file beside it.
 * @throws {BusyError} if another run holds it.
 */
export function takeRunLock(warehousePath: string): { release(): Promise<void> } {
  // Two names of one file must not have two locks.
  const path = `${realpathSync(warehousePath)}.lock`;
  createPrivately(path);
  const lock = lockAt(path);
  if (lock !== null) return { release: async () => lock.release() };
  throw new BusyError(`another run holds the warehouse ${warehousePath}`, {
    hint: 'wait for it to end',
    reason: 'warehouse-busy',
  });
}

function lockAt(path: string): FileLock | null {
  try {
    return tryFileLock(path);
  } catch (error) {
    const known = storageError(error, 'lock the warehouse with', path);
    if (known !== error) throw known;
    throw new StorageError(`lock the warehouse with ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give this user the right to write the file and its folder',
    });
  }
}
