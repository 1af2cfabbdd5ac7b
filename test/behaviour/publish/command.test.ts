import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publishedTables } from '../../../schema/tables.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { ask, tableIn } from '../../support/publish/lake.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

describe('daywalk publish', () => {
  test('publishes to both places at once, relative to the working directory, and reports what it did', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await exportedRig({ users: 10, reports: 5 });
    const cwd = tempDir();
    const call = (...args: string[]) => daywalk(['publish', ...args], { cwd, env: envOf(rig) });

    const first = await call('--parquet', 'lake', '--sqlite', 'bi.db', '--json');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const report = JSON.parse(first.stdout);
    expect(report.sqlite).toMatchObject({ path: join(cwd, 'bi.db'), bytes: expect.any(Number) });
    expect(report.parquet.directory).toBe(join(cwd, 'lake'));
    expect(report.parquet.tables.map(({ table }: { table: string }) => table)).toEqual(
      publishedTables.map(({ name }) => name),
    );
    const users = report.parquet.tables.find(({ table }: { table: string }) => table === 'user_daily');
    expect(await ask(`SELECT COUNT(*) FROM ${tableIn(join(cwd, 'lake'), 'user_daily')}`)).toEqual([
      [BigInt(users.rows)],
    ]);
    expect(users).toMatchObject({ written: 2, unchanged: 0, removed: 0, rowsWritten: users.rows });

    const second = await call('--parquet', 'lake');
    expect(second.code).toBe(0);
    expect(second.stdout).toMatch(/^user_daily +[\d,]+ +\d+ kB +0 +2 +0$/m);
    expect(second.stdout).toMatch(/lake: [\d,]+ rows in .*\n0 files written, \d+ unchanged, 0 removed\n$/);
    const third = await call('--parquet', 'lake', '--tables', 'sessions, user_daily', '--force');
    expect(third.stdout).toMatch(/\n3 files written, 0 unchanged, 0 removed\n$/);
    expect((await call('--sqlite', 'bi.db')).stdout).toMatch(/bi\.db: a copy of .* [kM]B\n$/);
  });

  test('notes each place for erasures once it may be written, also if another one is refused', async () => {
    const warehouse = join(tempDir(), 'daywalk.db');
    const cwd = tempDir();
    await commitDay(await openTemporary(warehouse), commitOf());
    writeFileSync(join(cwd, 'notes'), 'mine');
    mkdirSync(join(cwd, 'full', 'notes'), { recursive: true });
    const codeOf = async (...args: string[]) =>
      (await daywalkInProcess([...args, '--warehouse', warehouse], { cwd })).code;
    const noted = `${warehouse}.published.json`;
    for (const command of [['publish', '--sqlite'], ['backup']])
      for (const place of [warehouse, 'notes']) expect(await codeOf(...command, place)).toBe(2);
    expect(await codeOf('publish', '--parquet', 'full')).toBe(2);
    expect(existsSync(noted)).toBe(false);
    expect(await codeOf('publish', '--parquet', 'lake', '--delta', 'full')).toBe(2);
    expect(JSON.parse(readFileSync(noted, 'utf8'))).toEqual([join(cwd, 'lake')]);
    for (const [to, place] of [
      ['--delta', 'delta'],
      ['--sqlite', 'bi.db'],
    ] as const)
      expect(await codeOf('publish', to, place)).toBe(0);
    expect(await codeOf('backup', 'backup.db')).toBe(0);
    const others = ['delta/daywalk_versions.json', 'bi.db', 'backup.db'];
    expect(JSON.parse(readFileSync(noted, 'utf8')).slice(1)).toEqual(others.map((name) => join(cwd, name)));
  });

  test.each([
    [[], 'none of --delta, --parquet and --sqlite is given', '--delta DIR'],
    [['--parquet', 'lake', '--keep', '1d'], '--keep only applies to Delta tables', 'add --delta DIR'],
    [['--delta', 'lake', '--keep', '12h'], '--keep: "12h" is not a number of days or months', '400d'],
    [['--delta', 's3://bucket/lake'], '--delta: URLs are not supported', 'upload'],
    [
      ['--sqlite', 'bi.db', '--force'],
      '--tables and --force only apply to Delta tables and Parquet files',
      '--parquet DIR',
    ],
    [
      ['--sqlite', 'bi.db', '--tables', 'sessions'],
      '--tables and --force only apply to Delta tables and Parquet files',
      '--parquet',
    ],
    [['--parquet', 'lake', '--tables', 'users'], '--tables: "users" is not a table', 'daywalk schema'],
    [['--parquet', ''], '--parquet: the path is empty', 'name a path'],
    [['--parquet', 's3://bucket/lake'], '--parquet: URLs are not supported', 'upload'],
    [['--sqlite', 'postgres://host/db'], '--sqlite: URLs are not supported', 'folder'],
    [['--parquet', 'lake', '--warehouse', 'none.db'], 'there is no warehouse at none.db', 'daywalk run'],
  ])('%j is refused: %s', async (args, message, hint) => {
    const cwd = tempDir();
    const { code, stderr } = await daywalkInProcess(['publish', ...args], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(existsSync(join(cwd, 'lake'))).toBe(false);
  });
});
