import { closeSync, fsyncSync, openSync } from 'node:fs';

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
