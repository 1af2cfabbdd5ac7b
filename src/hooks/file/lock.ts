import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { hasCode } from '../../core/error-code.ts';
import { messageOf, StorageError, UsageError } from '../../core/errors.ts';
import { type FileLock, tryFileLock } from '../../core/file-lock.ts';

/** How long to wait for the lock. An edit takes milliseconds, so a process that holds it for seconds is stuck. */
const WAIT_MS_MAX = 5_000;
const PAUSE_MS = 20;

/**
 * Runs `edit` while no other Daywalk process edits the file. The lock is a file beside it, which is removed afterwards.
 * The operating system frees the lock when the process ends, even if it is killed.
 * @throws {UsageError} when others hold the lock for five seconds.
 * @throws {StorageError} when the lock file cannot be created.
 */
export async function whileLocked<Result>(path: string, clock: Clock, edit: () => Result): Promise<Result> {
  const lockPath = `${path}.lock`;
  const since = clock.monotonicMs();
  let lock = lockAt(path, lockPath);
  while (lock === null) {
    if (clock.monotonicMs() - since >= WAIT_MS_MAX) {
      throw new UsageError(`write the hooks file ${path}: another daywalk process holds its lock`, {
        hint: 'run the command again; end the other process if it is stuck',
      });
    }
    await clock.sleep(PAUSE_MS);
    lock = lockAt(path, lockPath);
  }
  try {
    return edit();
  } finally {
    // Removed before the release: a process that waits for this file then sees that it is no longer the lock file.
    rmSync(lockPath, { force: true });
    lock.release();
  }
}

/** Takes the lock. Returns null if another process holds it, or has just removed the file. */
function lockAt(path: string, lockPath: string): FileLock | null {
  try {
    createPrivately(lockPath);
    return lockUnremoved(lockPath);
  } catch (error) {
    throw new StorageError(`write the hooks file ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'create its folder, and give this user the right to write in it',
    });
  }
}

function lockUnremoved(lockPath: string): FileLock | null {
  const opened = identityOf(lockPath);
  if (opened === undefined) return null;
  try {
    const lock = tryFileLock(lockPath);
    if (lock === null || identityOf(lockPath) === opened) return lock;
    lock.release();
  } catch (error) {
    // SQLite fails in several ways if the holder removes the file during the attempt.
    if (identityOf(lockPath) === opened) throw error;
  }
  return null;
}

function createPrivately(lockPath: string): void {
  try {
    closeSync(openSync(lockPath, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** File systems reuse the inode of a removed file, but not its creation time. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.birthtimeNs}`;
}
