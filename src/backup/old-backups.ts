import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { archiveBeside, DATED } from './dated-folder.ts';
import { BACKUP } from './file-place.ts';
import { type BackupRecord, readRecord } from './record.ts';

/**
 * Removes backups of the same warehouse from a folder, with their archives, but the newest ones. What another program or another
 * warehouse has put there stays. Returns the paths of the removed files.
 */
export async function removeOld(
  folder: string,
  keep: number,
  { source, warehouse }: BackupRecord,
): Promise<string[]> {
  const own: string[] = [];
  for (const name of readdirSync(folder)
    .filter((each) => DATED.test(each))
    .toSorted()
    .reverse()) {
    const path = join(folder, name);
    if (!(await BACKUP.isOne(path))) continue;
    const record = recordOf(path);
    if (record !== null && isSame(record, { source, warehouse })) own.push(path);
  }
  const old = own.slice(keep).flatMap((path) => [path, archiveBeside(path)]);
  for (const path of old) rmSync(path, { force: true });
  return old;
}

function isSame(
  a: Pick<BackupRecord, 'source' | 'warehouse'>,
  b: Pick<BackupRecord, 'source' | 'warehouse'>,
) {
  return a.warehouse === null || b.warehouse === null ? a.source === b.source : a.warehouse === b.warehouse;
}

/** What a backup says of itself; null if it cannot be read: a damaged file is not removed. */
function recordOf(path: string): BackupRecord | null {
  try {
    const db = new Sqlite(path, { readonly: true });
    try {
      return readRecord(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) return null;
    throw error;
  }
}
