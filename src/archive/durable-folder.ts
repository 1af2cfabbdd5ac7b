import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const FOLDER_MODE = 0o700;

/**
 * Creates a folder and those above it, if they do not exist, so that a power loss does not take them away.
 * @throws {Error} of the file system.
 */
export async function makeDurableFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let folder = dirname(resolve(path)); folder !== above; folder = dirname(folder)) {
    await syncFolder(folder);
  }
  await syncFolder(above);
}

/**
 * Makes the names in a folder durable, also that some of them are gone. Does not block.
 * @throws {Error} of the file system.
 */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
