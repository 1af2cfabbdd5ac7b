import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { BACKUP } from './file-place.ts';
import { archiveBeside, DATED } from './folders.ts';
import { type BackupRecord, readRecord } from './record.ts';

/**
 * Removes backups of the same warehouse from a folder, with their archives, but the newest ones. What another program or another
 * warehouse has put there stays. Returns the paths of the removed files.
 * @param parents the warehouses that this one was made from, such as the one that a restore has replaced.
 */
export async function removeOld(
  folder: string,
  keep: number,
  { warehouse, parents }: { readonly warehouse: BackupRecord; readonly parents: readonly string[] },
): Promise<string[]> {
  const names = readdirSync(folder).filter((name) => DATED.test(name));
  const found: { readonly path: string; readonly record: BackupRecord }[] = [];
  for (const name of names.toSorted().reverse()) {
    const path = join(folder, name);
    const record = (await BACKUP.isOne(path)) ? recordOf(path) : null;
    if (record !== null) found.push({ path, record });
  }
  const isOwn = ({ record }: { readonly record: BackupRecord }) => isSame(record, warehouse);
  // A parent that is backed up since this one is goes on: its backups are not those of this warehouse.
  const since = found.slice(0, found.findLastIndex(isOwn)).map(({ record }) => record.warehouse);
  const isFormer = ({ record: { source, warehouse: id } }: { readonly record: BackupRecord }) =>
    source === warehouse.source && id !== null && parents.includes(id) && !since.includes(id);
  const old = found
    .filter((each) => isOwn(each) || isFormer(each))
    .slice(keep)
    .flatMap(({ path }) => [path, archiveBeside(path)]);
  for (const path of old) rmSync(path, { force: true });
  return old;
}

function isSame(a: BackupRecord, b: BackupRecord): boolean {
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
