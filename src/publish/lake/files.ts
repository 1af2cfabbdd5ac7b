import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { tableNameOf } from './names.ts';

/** Names of the folders in the path of a partition: the table, then columns with their values. */
const TABLE_FOLDER = /^[a-z][a-z0-9_]*$/;
const COLUMN_FOLDER = /^(org_id|month)=/;
/** The most folders in the path of a partition: table, organization, month. */
const DEPTH_MAX = 3;

/** Finds every file in a lake whose path is that of a partition, with its size. Other programs may have written some of them. */
export async function partitionFiles(lake: string): Promise<Map<string, number>> {
  const files = new Map<string, number>();
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(lake, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const pattern = depth === 0 ? TABLE_FOLDER : COLUMN_FOLDER;
      // Links are not followed: what they lead to is not part of the lake.
      if (entry.isDirectory() && depth < DEPTH_MAX && pattern.test(entry.name)) await walk(path, depth + 1);
      else if (entry.isFile() && tableNameOf(path) !== undefined) {
        files.set(path, (await stat(join(lake, path))).size);
      }
    }
  };
  await walk('', 0);
  return files;
}

/** Removes the file of a partition, and the folders that are empty without it. */
export async function removePartition(lake: string, path: string): Promise<void> {
  await rm(join(lake, path), { force: true });
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    try {
      await rmdir(join(lake, folder));
    } catch (error) {
      // The folder holds something else, or is gone.
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) return;
      throw error;
    }
  }
}
