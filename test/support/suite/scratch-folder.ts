import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Linux's folder in memory. */
const MEMORY = '/dev/shm';
/** What the folders of two workers and a server may need at once, many times over. */
const FREE_BYTES_MIN = 2 * 1024 ** 3;

/**
 * The folder in which tests make theirs: one in memory, where there is room and programs may be run from it. Nothing
 * that a test writes has to outlive the machine, and half of the time of a small commit is the wait for a disk.
 */
export function scratchFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= FREE_BYTES_MIN && maySpawnFrom(MEMORY) ? MEMORY : tmpdir();
  } catch {
    // No such folder, as everywhere but on Linux.
    return tmpdir();
  }
}

/** False where the file system is mounted without the right to run programs, as containers do. */
function maySpawnFrom(folder: string): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const options = mounts.map((line) => line.split(' ')).findLast(([, at]) => at === folder)?.[3];
  return options?.split(',').every((option) => option !== 'noexec' && option !== 'ro') ?? false;
}
