import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { knownMigrations } from '../../src/warehouse/sqlite/migrate.ts';
import { commitOf } from '../support/commit-of.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { tempDir, tempFile } from '../support/temp-dir.ts';
import { thrownBy } from '../support/transport.ts';
import { openTemporary, query } from '../support/warehouse.ts';

const clock = new FakeClock({ auto: true });
const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };

/** Changes a file the way another program would. */
function alter(path: string, change: (db: Sqlite.Database) => void): void {
  const db = new Sqlite(path);
  change(db);
  db.close();
}

function open(path: string, create = true) {
  return openWarehouse(path, { clock, create });
}

describe('opening a warehouse', () => {
  it('creates the file, with the schema of this version, readable by its owner only', async () => {
    const path = tempFile();
    const warehouse = await openTemporary(path);
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    const lock = await warehouse.lock();
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
      expect(statSync(file).mode & 0o777, file).toBe(0o600);
    }
    await lock.release();
    expect(query(path, 'SELECT created_at FROM "__drizzle_migrations"')).toHaveLength(
      knownMigrations().length,
    );
  });

  it('keeps what is there, and migrates nothing twice', async () => {
    const path = tempFile();
    for (const day of ['2026-02-01', '2026-02-02', '2026-02-03']) {
      const warehouse = await open(path);
      await warehouse.commitDay(commitOf({ day, rows: ROWS }));
      await warehouse.close();
    }
    expect(query(path, 'SELECT date FROM tokens_daily ORDER BY date')).toHaveLength(3);
    expect(query(path, 'SELECT * FROM "__drizzle_migrations"')).toHaveLength(knownMigrations().length);
  });

  it('takes an empty file for a new one', async () => {
    const path = tempFile();
    writeFileSync(path, '');
    expect(await (await openTemporary(path)).organizations()).toEqual([]);
  });

  it('may be done twice at once', async () => {
    const path = tempFile();
    const [a, b] = await Promise.all([openTemporary(path), openTemporary(path)]);
    await a.commitDay(commitOf({ rows: ROWS }));
    expect(await b.units('org_1')).toHaveLength(1);
  });

  it('refuses, with exit code 2, to make up a warehouse that is not there', async () => {
    const path = tempFile();
    expect(await thrownBy(open(path, false))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: `there is no warehouse at ${path}`,
      hint: expect.stringContaining('daywalk run'),
    });
    expect(() => statSync(path)).toThrow('ENOENT');
  });

  it.each(['', ':memory:', 'file:x.db', 'postgres://host/db', 'mysql://host/db', 'https://example.com/x.db'])(
    'refuses %j, which is no path of a file, with exit code 2',
    async (location) => {
      expect(await thrownBy(open(location))).toMatchObject({
        name: 'UsageError',
        exitCode: 2,
        hint: expect.stringMatching(/\S/),
      });
    },
  );

  it('refuses the database of another program with exit code 2, and leaves it as it is', async () => {
    const path = tempFile();
    alter(path, (db) => db.exec('CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)'));
    const before = readFileSync(path);
    expect(await thrownBy(open(path))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: `${path} is a SQLite database of another program`,
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('refuses a database that only has tables of the same names', async () => {
    const path = tempFile();
    alter(path, (db) =>
      db.exec('CREATE TABLE export_units (x); CREATE TABLE "__drizzle_migrations" (created_at)'),
    );
    expect(await thrownBy(open(path))).toMatchObject({ name: 'UsageError', exitCode: 2 });
  });

  it('refuses the warehouse of a newer version with exit code 2, and leaves it as it is', async () => {
    const path = tempFile();
    await (await open(path)).close();
    const newest = Math.max(...knownMigrations().map(({ folderMillis }) => folderMillis));
    alter(path, (db) => {
      db.prepare('INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES (?, ?)').run('x', newest + 1);
    });
    const before = query(path, 'SELECT * FROM sqlite_master');
    expect(await thrownBy(open(path))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: expect.stringContaining('newer version'),
      hint: expect.stringContaining('update daywalk'),
    });
    expect(query(path, 'SELECT * FROM sqlite_master')).toEqual(before);
  });

  it('says, with exit code 6, that a file is no database, and leaves it as it is', async () => {
    const path = tempFile();
    const text = 'date,tokens\n'.repeat(500);
    writeFileSync(path, text);
    expect(await thrownBy(open(path))).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(path),
      hint: expect.stringContaining('backup'),
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it.each([
    ['a folder', (folder: string) => folder],
    ['in a folder that is not there', (folder: string) => join(folder, 'no', 'x.db')],
    ['below a file', (folder: string) => join(folder, 'file', 'x.db')],
    ['a name that is too long', (folder: string) => join(folder, 'x'.repeat(300))],
  ])('says, with exit code 6 and the path, that the path is %s', async (_, pathIn) => {
    const folder = tempDir();
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'other'));
    const path = pathIn(folder);
    expect(await thrownBy(open(path))).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(path),
      hint: expect.stringMatching(/folder/),
    });
  });
});

describe('two organizations', () => {
  it('live side by side in one warehouse', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ orgId: 'org_b', rows: ROWS }));
    await warehouse.commitDay(commitOf({ orgId: 'org_a', rows: ROWS }));
    await warehouse.commitDay(commitOf({ orgId: 'org_a', rows: {} }));
    expect(await warehouse.organizations()).toEqual(['org_a', 'org_b']);
    expect(query(warehouse.path, 'SELECT org_id FROM tokens_daily')).toEqual([{ org_id: 'org_b' }]);
    expect(await warehouse.units('org_b')).toMatchObject([{ orgId: 'org_b', rows: 1, state: 'loaded' }]);
    expect(query(warehouse.path, 'SELECT org_id FROM restatements')).toEqual([{ org_id: 'org_a' }]);
  });
});
