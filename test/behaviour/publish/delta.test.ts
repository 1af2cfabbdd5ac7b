import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { publishDelta } from '../../../src/publish/delta-lake.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import {
  deltaOf,
  deltaRows,
  parquetRows,
  pathsIn,
  recordedVersions,
  viewOf,
} from '../../support/publish/delta.ts';
import { lakeOf } from '../../support/publish/lake.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

const { tokensDaily, tokensDailyByModel } = tables;
const TOKENS = [tokensDaily, tokensDailyByModel];

/** A warehouse in which each number of an organization and day is `n`; 0 removes the day. */
async function filled(n = 1) {
  const warehouse = await openTemporary();
  const put = (value: number, { orgId = 'org_1', day = '2026-02-01' } = {}) =>
    commitDay(
      warehouse,
      commitOf({
        ...{ orgId, day },
        rows:
          value === 0
            ? {}
            : {
                tokens_daily: [[value, value, value, value, value, null]],
                tokens_daily_by_model: [['m', null, value, value, value, value, value, null]],
              },
      }),
    );
  await put(n);
  await put(n, { day: '2026-03-01' });
  return { warehouse, put, path: warehouse.path };
}

const numbersOf = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row[2]);
const clockAt = (instant: string) => ({ ...systemClock(), now: () => new Date(instant) });

describe('a publish of Delta tables', () => {
  test('writes only what has changed; both versions can be read, and the file of versions names the last one', async () => {
    const { path, put } = await filled();
    const { lake, delta } = await deltaOf(path, { tables: TOKENS });
    expect(delta?.tables).toMatchObject([
      { table: 'tokens_daily', version: 0, written: 2, rows: 2 },
      { table: 'tokens_daily_by_model', version: 0, written: 2 },
    ]);
    const before = pathsIn(lake);
    await put(2, { day: '2026-03-01' });
    const second = await deltaOf(path, { directory: lake, tables: TOKENS });
    expect(second.delta?.tables[0]).toMatchObject({ version: 1, written: 1, unchanged: 1, removed: 0 });
    expect(recordedVersions(lake)).toEqual({ tokens_daily: 1, tokens_daily_by_model: 1 });
    expect(numbersOf(await deltaRows(lake, tokensDaily, 0))).toEqual([1, 1]);
    expect(numbersOf(await deltaRows(lake, tokensDaily, 1))).toEqual([1, 2]);
    expect(pathsIn(lake)).toEqual(expect.arrayContaining(before));
    expect(pathsIn(lake).length).toBe(before.length + 4);
  });

  test('without a change writes nothing', async () => {
    const { path } = await filled();
    const { lake } = await deltaOf(path);
    const before = [pathsIn(lake), readFileSync(join(lake, 'daywalk_versions.json'), 'utf8')];
    const { delta } = await deltaOf(path, { directory: lake });
    expect([pathsIn(lake), readFileSync(join(lake, 'daywalk_versions.json'), 'utf8')]).toEqual(before);
    for (const table of delta?.tables ?? [])
      expect(table).toMatchObject({ version: 0, written: 0, removed: 0 });
  });

  test('of a changed unit with the same rows in a table notes that once, and keeps the file', async () => {
    const { path, warehouse } = await filled();
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    const { files } = await viewOf(lake, 'tokens_daily');
    const other = {
      tokens_daily: [[1, 1, 1, 1, 1, null]],
      tokens_daily_by_model: [['n', null, 3, 3, 3, 3, 3, null]],
    };
    await commitDay(warehouse, commitOf({ orgId: 'org_1', day: '2026-03-01', rows: other }));
    for (const _ of [1, 2]) await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    expect(await viewOf(lake, 'tokens_daily')).toMatchObject({ version: 1, files });
  });

  test('takes away a month without rows, and brings it back', async () => {
    const { path, put } = await filled();
    const { lake } = await deltaOf(path, { tables: TOKENS });
    await put(0, { day: '2026-03-01' });
    const { delta } = await deltaOf(path, { directory: lake, tables: TOKENS });
    expect(delta?.tables[0]).toMatchObject({ removed: 1, rows: 1 });
    expect(numbersOf(await deltaRows(lake, tokensDaily))).toEqual([1]);
    await put(1, { day: '2026-03-01' });
    await deltaOf(path, { directory: lake, tables: TOKENS });
    expect(numbersOf(await deltaRows(lake, tokensDaily))).toEqual([1, 1]);
  });

  test('repairs files that another program has removed or cut', async () => {
    const { path } = await filled();
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    const { files } = await viewOf(lake, 'tokens_daily');
    rmSync(join(lake, 'tokens_daily', files[0] ?? ''));
    writeFileSync(join(lake, 'tokens_daily', files[1] ?? ''), 'x');
    const { delta } = await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    expect(delta?.tables[0]).toMatchObject({ written: 2, version: 0 });
    expect(numbersOf(await deltaRows(lake, tokensDaily))).toEqual([1, 1]);
  });

  test('has the columns of a table without rows', async () => {
    const { path } = await filled();
    const { lake } = await deltaOf(path, { tables: [tables.userDaily] });
    const { files, columns } = await viewOf(lake, 'user_daily');
    expect(files).toEqual([]);
    expect(columns).toMatchObject({
      ...{ org_id: 'string', month: 'string', date: 'date', billable_tokens: 'double' },
      languages: { type: 'array', elementType: 'string' },
    });
  });

  test('reaches organizations whose IDs no path holds as they are', async () => {
    const { path, put } = await filled();
    const ids = ['a/b', 'a b%2F', 'é', 'null', 'a=b#c?'];
    for (const orgId of ids) await put(7, { orgId });
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    const rows = await deltaRows(lake, tokensDaily);
    expect(rows.map(([orgId]) => orgId)).toEqual(expect.arrayContaining(ids));
    const again = await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    expect(again.delta?.tables[0]).toMatchObject({ written: 0, unchanged: 7 });
  });
});

describe('the log of a Delta table', () => {
  test('has a checkpoint every ten commits, which is enough without the files before', async () => {
    const { path, put } = await filled();
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    const log = join(lake, 'tokens_daily/_delta_log');
    for (let n = 2; n <= 21; n += 1) {
      await put(n);
      await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    }
    const checkpoints = readdirSync(log).filter((name) => name.endsWith('.parquet'));
    expect(checkpoints).toEqual([10, 20].map((n) => `${String(n).padStart(20, '0')}.checkpoint.parquet`));
    expect(JSON.parse(readFileSync(join(log, '_last_checkpoint'), 'utf8'))).toMatchObject({ version: 20 });
    for (const name of readdirSync(log)) if (/^0+1?\d\.(json|checkpoint)/.test(name)) rmSync(join(log, name));
    expect(numbersOf(await deltaRows(lake, tokensDaily))).toEqual([21, 1]);
    await put(22);
    const { delta } = await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    expect(delta?.tables[0]).toMatchObject({ version: 21, written: 1, unchanged: 1 });
    expect(numbersOf(await deltaRows(lake, tokensDaily))).toEqual([22, 1]);
  });

  test('and its files go once they are older than they are to be kept', async () => {
    const { path, put } = await filled();
    const publishAt = (instant: string, directory?: string) =>
      deltaOf(path, { ...(directory && { directory }), tables: [tokensDaily], clock: clockAt(instant) });
    const { lake } = await publishAt('2026-03-01T00:00:00Z');
    for (let n = 2; n <= 12; n += 1) {
      await put(n);
      await publishAt(`2026-03-${String(n).padStart(2, '0')}T00:00:00Z`, lake);
    }
    expect(numbersOf(await deltaRows(lake, tokensDaily, 10))).toEqual([11, 1]);
    // Seven days before the last publish: the version of 4 March was replaced on the 5th, which is not older.
    const values = new Set<unknown>();
    for (const file of readdirSync(join(lake, 'tokens_daily'), { recursive: true, encoding: 'utf8' }))
      if (/month=2026-02.*parquet$/.test(file))
        for (const row of await parquetRows(join(lake, 'tokens_daily', file)))
          values.add(row['billable_tokens']);
    expect([...values].map(Number).toSorted((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
    await put(13);
    await publishAt('2026-04-01T00:00:00Z', lake);
    expect(readdirSync(join(lake, 'tokens_daily/_delta_log')).toSorted()).toEqual([
      '00000000000000000010.checkpoint.parquet',
      '00000000000000000010.json',
      '00000000000000000011.json',
      '00000000000000000012.json',
      '_last_checkpoint',
    ]);
    expect(numbersOf(await deltaRows(lake, tokensDaily, 12))).toEqual([13, 1]);
    await expect(deltaRows(lake, tokensDaily, 10)).rejects.toThrow('file not found');
  });

  test('with a gap is refused: exit code 6', async () => {
    const { path, put } = await filled();
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    await put(2);
    await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    rmSync(join(lake, 'tokens_daily/_delta_log/00000000000000000000.json'));
    const failure = await thrownBy(deltaOf(path, { directory: lake, tables: [tokensDaily] }));
    expect(failure).toMatchObject({ exitCode: 6, message: expect.stringContaining('version 0 is missing') });
  });
});

describe('a folder of Delta tables', () => {
  testVariants([
    ['another file', (folder: string) => writeFileSync(join(folder, 'notes.txt'), '')],
    ['a folder', (folder: string) => mkdirSync(join(folder, 'user_daily'))],
    [
      'versions of another program',
      (folder: string) => writeFileSync(join(folder, 'daywalk_versions.json'), '{"a":1}'),
    ],
    [
      'versions of a newer version',
      (folder: string) =>
        writeFileSync(join(folder, 'daywalk_versions.json'), '{"format":"daywalk delta lake","version":2}'),
    ],
  ])('that holds %s is refused with exit code 2, and nothing is written', async (_, put) => {
    const { path } = await filled();
    const directory = tempDir();
    put(directory);
    const before = readdirSync(directory);
    expect(await thrownBy(deltaOf(path, { directory }))).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(directory),
    });
    expect(readdirSync(directory)).toEqual(before);
  });

  test('is no folder of Parquet files, and the other way round', async () => {
    const { path } = await filled();
    const { lake: delta } = await deltaOf(path, { tables: TOKENS });
    const { lake: parquet } = await lakeOf(path, { tables: TOKENS });
    expect(await thrownBy(lakeOf(path, { directory: delta }))).toMatchObject({ exitCode: 2 });
    expect(await thrownBy(deltaOf(path, { directory: parquet }))).toMatchObject({ exitCode: 2 });
  });

  test('is used by one publish at a time: exit code 75', { tags: 'ci/rare' }, async () => {
    const { path } = await filled();
    const { lake } = await deltaOf(path, { tables: TOKENS });
    const holder = startScript(
      `import { tryFileLock } from './src/core/sqlite-files.ts';
       tryFileLock(process.env.LOCK);
       console.log('held');
       setInterval(() => {}, 1000);`,
      { env: { LOCK: join(lake, '_daywalk.lock') } },
    );
    expect(await firstLine(holder)).toBe('held');
    expect(await thrownBy(deltaOf(path, { directory: lake }))).toMatchObject({
      exitCode: 75,
      message: `another publish works on ${lake}`,
    });
    holder.child.kill('SIGKILL');
    await holder.ended;
    await deltaOf(path, { directory: lake });
  });

  test('in which another program makes the same version is left as that program has made it: exit code 75', async () => {
    const { path, put, warehouse } = await filled();
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    await put(2);
    const target = join(lake, 'tokens_daily/_delta_log/00000000000000000001.json');
    const disturbed = {
      ...warehouse,
      inSnapshot: async <Result>(work: () => Promise<Result>) => {
        const result = await work();
        writeFileSync(target, 'theirs');
        return result;
      },
    };
    const source = { warehouse: disturbed, clock: systemClock(), signal: new AbortController().signal };
    const request = { directory: lake, tables: [tokensDaily], force: false, keepAfter: new Date(0) };
    expect(await thrownBy(publishDelta(source, request))).toMatchObject({
      exitCode: 75,
      message: expect.stringContaining('another program has made version 1'),
    });
    expect(readFileSync(target, 'utf8')).toBe('theirs');
    expect(recordedVersions(lake)).toEqual({ tokens_daily: 0 });
    rmSync(target);
    await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    expect(numbersOf(await deltaRows(lake, tokensDaily))).toEqual([2, 1]);
    expect(pathsIn(lake).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('after a kill between the two names of a log file keeps that file', async () => {
    const { path, put } = await filled();
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    const log = join(lake, 'tokens_daily/_delta_log/00000000000000000000.json');
    const text = readFileSync(log, 'utf8');
    linkSync(log, join(lake, '_daywalk.part'));
    await put(2);
    await deltaOf(path, { directory: lake, tables: [tokensDaily] });
    expect(readFileSync(log, 'utf8')).toBe(text);
    expect(existsSync(join(lake, '_daywalk.part'))).toBe(false);
  });

  test('that was copied elsewhere goes on there', async () => {
    const { path, put } = await filled();
    const { lake } = await deltaOf(path, { tables: [tokensDaily] });
    const copy = join(tempDir(), 'copy');
    cpSync(lake, copy, { recursive: true });
    await put(2);
    const { delta } = await deltaOf(path, { directory: copy, tables: [tokensDaily] });
    expect(delta?.tables[0]).toMatchObject({ version: 1, written: 1, unchanged: 1 });
  });
});
