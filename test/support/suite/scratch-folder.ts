import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** The in-memory folder of Linux. */
const MEMORY = '/dev/shm';
/** Much more than the folders of two workers and a server need at once. */
const FREE_BYTES_MIN = 2 * 1024 ** 3;

/**
 * Returns the parent of all test folders: in memory, if there is room and programs may run from it. Test files need
 * not survive a crash, and waiting for the disk is half of the time of a small commit.
 */
export function scratchFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= FREE_BYTES_MIN && maySpawnFrom(MEMORY) ? MEMORY : tmpdir();
  } catch {
    // No such folder, for example on macOS.
    return tmpdir();
  }
}

/** Returns false if the file system is mounted noexec, as in some containers. */
function maySpawnFrom(folder: string): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const options = mounts.map((line) => line.split(' ')).findLast(([, at]) => at === folder)?.[3];
  return options?.split(',').every((option) => option !== 'noexec' && option !== 'ro') ?? false;
}
