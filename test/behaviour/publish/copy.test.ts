import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { allTables, publishedTables, tables, unpublishedTables } from '../../../schema/tables.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import { publishFrom } from '../../support/publish/publish-from.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { openTemporary, query } from '../../support/warehouse/open-temporary.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };

async function filled() {
  const warehouse = await openTemporary();
  await commitDay(warehouse, commitOf({ rows: ROWS }));
  return warehouse;
}

const copyTo = (warehouse: string, sqlite: string) => publishFrom(warehouse, { sqlite });

onEachDatabase((database) => {
  test('a published copy has no key of a pseudonym in any byte, nor who was erased, and neither has a lake', async () => {
    const rig = await exportedRig({ users: 5, reports: 0 }, { database });
    const { user } = await somebody(rig);
    await eraseFrom(rig, { user });
    const [keys] = await rig.column("SELECT value FROM export_state WHERE name = 'erased-keys'");
    const [hmac = ''] = await rig.column('SELECT subject_hmac FROM erased');
    const [key = ''] = JSON.parse(keys ?? '[]') as string[];
    const [copy, directory] = [tempFile('bi.db'), tempDir()];
    await publishFrom(rig.path, { sqlite: copy });
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    for (const secret of [key, hmac]) expect(readFileSync(copy, 'latin1')).not.toContain(secret);
    await publishFrom(rig.path, { parquet: { directory, tables: publishedTables, force: false } });
    const folders = readdirSync(directory);
    expect(folders).toContain('user_daily');
    for (const { name } of unpublishedTables) expect(folders).not.toContain(name);
  });
});

describe('a published copy', () => {
  test('has every row of every published table, the ledger and the rollups too, and opens as a warehouse', async () => {
    const rig = await exportedRig({ users: 20, reports: 8 });
    const copy = tempFile('bi.db');
    const { sqlite, parquet } = await copyTo(rig.path, copy);
    expect(parquet).toBeNull();
    expect(sqlite).toEqual({ path: copy, bytes: statSync(copy).size });
    for (const table of allTables) {
      if (table === tables.identity) continue;
      const { name, key } = table;
      const rows = (path: string) => query(path, `SELECT * FROM ${name} ORDER BY ${key.join(', ')}`);
      expect(rows(copy), name).toEqual(unpublishedTables.includes(table) ? [] : rows(rig.path));
    }
    expect(query(copy, 'PRAGMA freelist_count')).toEqual([{ freelist_count: 0 }]);
    const [own] = query(rig.path, 'SELECT warehouse_id AS id FROM identity');
    const [identity] = query(copy, 'SELECT made_by, parents FROM identity');
    expect(identity).toEqual({ made_by: 'publish', parents: JSON.stringify([own?.['id']]) });
    expect(query(copy, 'SELECT COUNT(*) AS n FROM daily_overview')[0]?.['n']).toBeGreaterThan(20);
    expect((await digestOf(await openTemporary(copy))).warehouse).toBe(await rig.digest());
  });

  test('is readable for users who may write neither the file nor its folder, without a file beside it', {
    tags: 'ci/rare',
  }, async () => {
    const { path } = await filled();
    const copy = tempFile('bi.db');
    await copyTo(path, copy);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    chmodSync(copy, 0o644);
    chmodSync(dirname(copy), 0o555);
    const script = startScript(
      `import Sqlite from 'better-sqlite3';
       const db = new Sqlite(process.env.COPY, { readonly: true });
       console.log(db.pragma('journal_mode', { simple: true }), db.prepare('SELECT COUNT(*) FROM tokens_daily').pluck().get());`,
      { env: { COPY: copy }, unprivileged: true },
    );
    expect(await firstLine(script)).toBe('delete 1');
    chmodSync(dirname(copy), 0o700);
    expect(readdirSync(dirname(copy)).toSorted()).toEqual(['.bi.db.lock', 'bi.db']);
  });

  test('is replaced atomically: readers of the old one continue, and the mode stays', async () => {
    const warehouse = await filled();
    const copy = tempFile('bi.db');
    await copyTo(warehouse.path, copy);
    chmodSync(copy, 0o640);
    const old = new Sqlite(copy, { readonly: true });
    const count = () => old.prepare('SELECT COUNT(*) FROM tokens_daily').pluck().get();
    expect(count()).toBe(1);
    await commitDay(warehouse, commitOf({ day: '2026-02-02', rows: ROWS }));
    await copyTo(warehouse.path, copy);
    expect(count()).toBe(1);
    old.close();
    expect(query(copy, 'SELECT COUNT(*) AS n FROM tokens_daily')).toEqual([{ n: 2 }]);
    expect(statSync(copy).mode & 0o777).toBe(0o640);
  });

  test('shows one state, whatever a run commits in the meantime', async () => {
    const warehouse = await filled();
    const other = new Sqlite(warehouse.path);
    other.exec('BEGIN IMMEDIATE; UPDATE tokens_daily SET input_tokens = 99');
    const copy = tempFile('bi.db');
    await copyTo(warehouse.path, copy);
    other.exec('COMMIT');
    other.close();
    expect(query(copy, 'SELECT input_tokens AS n FROM tokens_daily')).toEqual([{ n: 2 }]);
  });

  test('behind a link is replaced at its real path', { tags: 'ci/rare' }, async () => {
    const { path } = await filled();
    const copy = tempFile('bi.db');
    const link = tempFile('link.db');
    await copyTo(path, copy);
    symlinkSync(copy, link);
    const before = statSync(copy).ino;
    await copyTo(path, link);
    expect(statSync(copy).ino).not.toBe(before);
    expect(readFileSync(link)).toEqual(readFileSync(copy));
  });
});

describe('a copy is refused with exit code 2, and nothing changes,', () => {
  const refused = async (put: (path: string, warehouse: string) => void | Promise<void>, message: RegExp) => {
    const warehouse = await filled();
    const place = tempFile('place.db');
    await put(place, warehouse.path);
    const before = statSync(place);
    expect(await thrownBy(copyTo(warehouse.path, place))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/\S/),
    });
    expect(statSync(place)).toMatchObject({ ino: before.ino, size: before.size, mtimeMs: before.mtimeMs });
    expect(await digestOf(await openTemporary(warehouse.path))).toMatchObject({
      warehouse: expect.any(String),
    });
  };

  test('at the path of the warehouse itself, by any name', async () => {
    await refused((place, warehouse) => symlinkSync(warehouse, place), / is .* itself/);
  });

  test('at a hard link to the warehouse', async () => {
    const warehouse = await filled();
    const place = tempFile('bi.db');
    linkSync(warehouse.path, place);
    expect(await thrownBy(copyTo(warehouse.path, place))).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('has 2 names'),
    });
    expect(statSync(place).ino).toBe(statSync(warehouse.path).ino);
  });

  test('at the path of another warehouse', async () => {
    const other = await filled();
    await other.close();
    await refused((place) => copyFileSync(other.path, place), /is not a published copy/);
  });

  test('at the path of another database, another file or a folder', async () => {
    const other = /is not a published copy/;
    await refused((place) => void new Sqlite(place).exec('CREATE TABLE t (x)').close(), other);
    await refused((place) => writeFileSync(place, 'my notes'), other);
    await refused((place) => writeFileSync(place, ''), other);
    await refused((place) => mkdirSync(place), other);
  });

  test('at the path of a copy that another program is writing', async () => {
    await refused(async (place, warehouse) => {
      await copyTo(warehouse, place);
      writeFileSync(`${place}-wal`, '');
    }, /another program writes to .*: there is .*-wal/);
  });
});

describe('a copy that cannot be written', () => {
  test('ends with exit code 6 and the path', async () => {
    const { path } = await filled();
    const copy = join(tempDir(), 'nowhere', 'bi.db');
    expect(await thrownBy(copyTo(path, copy))).toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('nowhere'),
      hint: expect.stringMatching(/folder/),
    });
  });

  test.each([0.1, 1.1])(
    'on a disk that is full at %f of its size keeps the previous copy',
    {
      tags: 'ci/rare',
    },
    async (part) => {
      const warehouse = await filled();
      const copy = tempFile('bi.db');
      await copyTo(warehouse.path, copy);
      const before = readFileSync(copy);
      const models = Array.from({ length: 9_000 }, (_, n) => [`${n}`.repeat(99), null, n, n, n, n, n, null]);
      await commitDay(warehouse, commitOf({ rows: { tokens_daily_by_model: models } }));
      const blocks = Math.ceil((part * before.length) / 512);
      const script = startScript(
        `import { publishFrom } from './test/support/publish/publish-from.ts';
       try {
         await publishFrom(process.env.WAREHOUSE, { sqlite: process.env.COPY });
       } catch ({ exitCode, message, hint }) {
         console.log(JSON.stringify({ exitCode, message, hint }));
       }`,
        { env: { WAREHOUSE: warehouse.path, COPY: copy }, limits: `trap '' XFSZ; ulimit -f ${blocks}` },
      );
      expect(JSON.parse(await firstLine(script))).toMatchObject({
        exitCode: 6,
        message: expect.stringMatching(`^write .* ${copy}`),
        hint: expect.stringMatching(/space/),
      });
      expect(readFileSync(copy)).toEqual(before);
      expect(readdirSync(dirname(copy)).toSorted()).toEqual(['.bi.db.lock', 'bi.db']);
    },
  );

  test('during another publish ends with exit code 75; leftovers of a killed publish are removed', {
    tags: 'ci/rare',
  }, async () => {
    const { path } = await filled();
    const copy = tempFile('bi.db');
    const hidden = join(dirname(copy), '.bi.db');
    const holder = startScript(
      `import { tryFileLock } from './src/core/sqlite-files.ts';
       const lock = tryFileLock(process.env.LOCK);
       console.log(lock !== null);
       setInterval(() => lock, 1000);`,
      { env: { LOCK: `${hidden}.lock` } },
    );
    expect(await firstLine(holder)).toBe('true');
    expect(await thrownBy(copyTo(path, copy))).toMatchObject({
      exitCode: 75,
      message: `another process writes ${copy}`,
    });
    holder.child.kill('SIGKILL');
    await holder.ended;
    writeFileSync(`${hidden}.part.db`, 'half a copy');
    await copyTo(path, copy);
    expect(existsSync(`${hidden}.part.db`)).toBe(false);
  });
});
