// @module-tag database-specific

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { APPLICATION_ID } from '../../../src/warehouse/sqlite/connection.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };

/** Opens the file as a warehouse. */
function openFile(path: string, create = true) {
  return open(sqlitePlace(path), { create });
}

/** The file and its log: what a commit wrote shows in either. */
function bytesOf(path: string): number {
  return statSync(path).size + statSync(`${path}-wal`).size;
}

describe('the file of a warehouse', () => {
  it('is readable by its owner only, as are those beside it', async () => {
    const path = tempFile();
    const warehouse = await openFile(path);
    await commitDay(warehouse, commitOf({ rows: ROWS }));
    const lock = await warehouse.lock();
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
      expect(statSync(file).mode & 0o777, file).toBe(0o600);
    }
    await lock.release();
  });

  it('has an application ID', async () => {
    const { place } = await open(sqlite);
    expect(await place.query('PRAGMA application_id')).toEqual([{ application_id: APPLICATION_ID }]);
  });

  it('does not grow for an unchanged day: only the ledger is written', async () => {
    const warehouse = await open(sqlite);
    const rows = {
      tokens_daily_by_model: Array.from({ length: 3000 }, (_, n) => [
        `model ${n}`,
        null,
        n,
        n,
        n,
        n,
        n,
        null,
      ]),
    };
    await commitDay(warehouse, commitOf({ rows }));
    const before = bytesOf(warehouse.place.location);
    await commitDay(warehouse, commitOf({ rows, pulledAt: '2026-02-03T03:00:00.000Z' }));
    // A few pages of the ledger; the rows are hundreds of kilobytes.
    expect(bytesOf(warehouse.place.location) - before).toBeLessThan(30_000);
  });

  it('may be created behind a symbolic link', async () => {
    const path = tempFile();
    const link = join(tempDir(), 'link.db');
    symlinkSync(path, link);
    const warehouse = await openFile(link);
    await commitDay(warehouse, commitOf({ rows: ROWS }));
    expect(statSync(path).ino).toBe(statSync(link).ino);
    await (await warehouse.lock()).release();
    expect(existsSync(`${path}.lock`)).toBe(true);
  });

  it('is not created by a read', async () => {
    const path = tempFile();
    expect(await thrownBy(openFile(path, false))).toMatchObject({ name: 'NoWarehouseError', exitCode: 2 });
    expect(() => statSync(path)).toThrow('ENOENT');
  });
});

describe('a file that is no longer at its path', () => {
  it('is reported with exit code 6 on close, because its content is lost', async () => {
    const path = tempFile();
    const warehouse = await openWarehouse(path, { clock: new FakeClock(), create: true });
    await commitDay(warehouse, commitOf({ rows: ROWS }));
    rmSync(path);
    expect(await thrownBy(warehouse.close())).toMatchObject({ name: 'StorageError', exitCode: 6 });
    expect(existsSync(path)).toBe(false);
  });

  it('can be closed by a reader', async () => {
    const path = tempFile();
    await (await openFile(path)).close();
    const warehouse = await openWarehouse(path, { clock: new FakeClock(), create: false });
    const { close } = warehouse;
    expect(await readUnits(warehouse, 'org_1')).toEqual([]);
    rmSync(path);
    await close();
  });

  it('is reported with exit code 6 when the lock is finally acquired', async () => {
    const path = tempFile();
    const { lock, close } = await openWarehouse(path, { clock: new FakeClock(), create: true });
    rmSync(path);
    expect(await thrownBy(lock())).toMatchObject({ name: 'StorageError', exitCode: 6 });
    await thrownBy(close());
  });
});

describe('a file that is not a warehouse', () => {
  it('but the database of another program is refused with exit code 2, and not changed', async () => {
    const path = tempFile();
    await sqlitePlace(path).execute('CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)');
    const before = readFileSync(path);
    expect(await thrownBy(openFile(path))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: `${path} is a SQLite database of another program`,
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it.each([
    ['that holds only views', 'CREATE VIEW theirs AS SELECT 1 AS x'],
    ['that is marked and still empty', 'PRAGMA application_id = 252006674'],
    ['that is marked as a warehouse and empty', `PRAGMA application_id = ${APPLICATION_ID}`],
  ])('but a database %s is refused with exit code 2, and not changed', async (_, sql) => {
    const path = tempFile();
    await sqlitePlace(path).execute(sql);
    const before = readFileSync(path);
    for (const create of [true, false]) {
      expect(await thrownBy(openFile(path, create))).toMatchObject({
        name: 'UsageError',
        exitCode: 2,
        message: `${path} is a SQLite database of another program`,
      });
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('though it has a history of migrations is refused with exit code 2', async () => {
    const path = tempFile();
    const tables = 'CREATE TABLE export_units (x); CREATE TABLE "__drizzle_migrations" (created_at)';
    await sqlitePlace(path).execute(tables);
    expect(await thrownBy(openFile(path))).toMatchObject({ name: 'UsageError', exitCode: 2 });
  });

  it('nor a database is reported with exit code 6, and not changed', async () => {
    const path = tempFile();
    const text = 'date,tokens\n'.repeat(500);
    writeFileSync(path, text);
    expect(await thrownBy(openFile(path))).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(path),
      hint: expect.stringContaining('backup'),
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('because it was written by a newer version is not changed', async () => {
    const path = tempFile();
    await (await openFile(path)).close();
    const db = new Sqlite(path);
    db.prepare('INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES (?, ?)').run(
      'x',
      Date.UTC(2100),
    );
    db.close();
    const before = readFileSync(path);
    expect(await thrownBy(openFile(path))).toMatchObject({ name: 'UsageError', exitCode: 2 });
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe('an impossible path', () => {
  it.each([
    ['in a missing folder', (folder: string) => join(folder, 'no', 'x.db')],
    ['below a file', (folder: string) => join(folder, 'file', 'x.db')],
    ['a name that is too long', (folder: string) => join(folder, 'x'.repeat(300))],
  ])('is reported with exit code 6 and the path: %s', async (_, pathIn) => {
    const folder = tempDir();
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'other'));
    const path = pathIn(folder);
    expect(await thrownBy(openFile(path))).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(path),
      hint: expect.stringMatching(/folder/),
    });
  });
});
