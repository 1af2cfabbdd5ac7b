import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { allTables } from '../../schema/tables.ts';
import type { Clock } from '../core/clock.ts';
import { DamagedError, OldWarehouseError, UsageError } from '../core/errors.ts';
import { packageVersion } from '../core/files.ts';
import { storageError } from '../core/sqlite-files.ts';
import { readIdentity } from '../identity/index.ts';
import type { Warehouse } from '../port/index.ts';
import { withWarehouse } from '../warehouse/index.ts';
import { BACKUP, BACKUP_MARK, type Place, type PlacedFile, putFile } from './file-place.ts';
import { inTemporaryFolder } from './folders.ts';
import { type BackupRecord, damageOf, readRecord, readRecordedTables, writeRecord } from './record.ts';
import { fileOf, fillFile } from './write-file.ts';

/** What to back up. */
interface BackupOptions extends Pick<Place, 'lock' | 'begins'> {
  readonly source: Warehouse;
  /** Of the backup. */
  readonly id: string;
  /** How many of the newest migrations the warehouse does not have. @default 0 */
  readonly leaving?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A backup that was written and compared with what was read. */
export interface WrittenBackup extends PlacedFile, BackupRecord {
  readonly tables: number;
  readonly rows: number;
}

/**
 * Writes one state of a whole warehouse, of either database, as one SQLite file: every table, compared with what was read. A run may
 * go on meanwhile.
 * @throws {UsageError} if the path holds something other than an earlier backup.
 * @throws {StorageError} if the warehouse is damaged, or the file cannot be written.
 */
export async function writeBackup(
  path: string,
  { source, id, leaving = 0, clock, signal, ...place }: BackupOptions,
): Promise<WrittenBackup> {
  // Earlier versions have none, or have it where this version does not look.
  const identity = leaving > 0 ? null : await readIdentity(source);
  const record: BackupRecord = {
    ...{ id, takenAt: clock.now().toISOString(), version: packageVersion() },
    ...{ source: source.location, warehouse: identity?.id ?? null },
  };
  let [tables, rows] = [0, 0];
  const placed = await putFile({ ...place, path, kind: BACKUP, source: fileOf(source) }, async (part) => {
    const filling = { source, tables: allTables, mark: BACKUP_MARK, leaving, clock, signal };
    const written = await fillFile(part, filling, (db, recorded) => writeRecord(db, record, recorded));
    tables = written.length;
    rows = written.reduce((sum, table) => sum + table.rows, 0);
  });
  return { ...placed, ...record, tables, rows };
}

/**
 * Reads all of a backup, and compares every table with what was recorded when it was written. Another warehouse in a SQLite file
 * has no record: SQLite alone checks it, and null is returned.
 * @throws {UsageError} if there is no file.
 * @throws {DamagedError} if it is damaged.
 */
export async function checkBackup(path: string): Promise<BackupRecord | null> {
  if (!existsSync(path)) throw new UsageError(`there is no backup at ${path}`, { hint: 'name its file' });
  try {
    const db = new Sqlite(path, { readonly: true });
    try {
      const [damage] = damageOf(db, readRecordedTables(db));
      if (damage === undefined) return readRecord(db);
      throw new DamagedError(`read the backup ${path}: ${damage}`, { hint: 'use another backup' });
    } finally {
      db.close();
    }
  } catch (error) {
    throw storageError(error, 'read the backup', path);
  }
}

/** Opens a backup to read it. One of an earlier version is upgraded in a temporary copy, which is removed. */
export async function withBackup<Result>(
  path: string,
  clock: Clock,
  use: (backup: Warehouse) => Promise<Result>,
): Promise<Result> {
  const reading = { clock, create: false, readOnly: true };
  try {
    return await withWarehouse(path, reading, use);
  } catch (error) {
    if (!(error instanceof OldWarehouseError)) throw error;
  }
  return inTemporaryFolder(async (folder) => {
    const copy = join(folder, 'backup.db');
    copyFileSync(path, copy);
    return withWarehouse(copy, { clock, create: false }, use);
  });
}
