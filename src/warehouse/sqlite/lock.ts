import { realpathSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { BusyError } from '../../core/errors.ts';
import { createPrivately } from './connection.ts';
import { isBusy, storageError } from './errors.ts';

/**
 * Takes the run lock of a warehouse: an exclusive transaction on an empty side file, which the operating system frees
 * at any kind of death, so that no lock is ever stale.
 * @throws {BusyError} when another run holds it.
 */
export function takeRunLock(warehousePath: string): { release(): Promise<void> } {
  // Two names of one file must not have two locks.
  const path = `${realpathSync(warehousePath)}.lock`;
  createPrivately(path);
  try {
    const db = new Sqlite(path, { timeout: 0 });
    try {
      db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      db.close();
      throw error;
    }
    return { release: async () => void db.close() };
  } catch (error) {
    if (!isBusy(error)) throw storageError(error, 'lock the warehouse with', path);
    throw new BusyError(`another run holds the warehouse ${warehousePath}`, {
      cause: error,
      hint: 'wait for it to end, or pass --wait',
    });
  }
}
