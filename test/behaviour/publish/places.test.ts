import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publishedTables, tables } from '../../../schema/tables.ts';
import { sameButForCase } from '../../../src/publish/lake-folder.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import { filesIn, lakeOf, rowsIn } from '../../support/publish/lake.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

async function filled(rows = 1) {
  const warehouse = await openTemporary();
  const models = Array.from({ length: rows }, (_, n) => [
    `model ${n} ${n * 7919}`,
    null,
    n,
    n,
    n,
    n,
    n,
    null,
  ]);
  await commitDay(warehouse, commitOf({ rows: { tokens_daily_by_model: models } }));
  return warehouse;
}

describe('the folder of a lake', () => {
  test('is created with its parents; an empty folder and the root of a new disk are accepted', {
    tags: 'ci/rare',
  }, async () => {
    const { path } = await filled();
    const fresh = tempDir();
    mkdirSync(join(fresh, 'lost+found'));
    writeFileSync(join(fresh, '.DS_Store'), '');
    for (const directory of [join(tempDir(), 'a/b/c'), tempDir(), fresh]) {
      expect((await lakeOf(path, { directory })).parquet?.tables).toHaveLength(publishedTables.length);
    }
  });

  testVariants([
    ['a file', (folder: string) => writeFileSync(join(folder, 'notes.txt'), '')],
    ['a folder', (folder: string) => mkdirSync(join(folder, 'user_daily'))],
    [
      'the notes of another program',
      (folder: string) => writeFileSync(join(folder, '_daywalk.json'), '{"a":1}'),
    ],
    [
      'the notes of a newer version',
      (folder: string) =>
        writeFileSync(join(folder, '_daywalk.json'), '{"format":"daywalk lake","version":2}'),
    ],
  ])('that holds %s is refused with exit code 2, and nothing is written', async (_, put) => {
    const { path } = await filled();
    const directory = tempDir();
    put(directory);
    const before = readdirSync(directory);
    const failure = await thrownBy(lakeOf(path, { directory }));
    expect(failure).toMatchObject({ exitCode: 2, message: expect.stringContaining(directory) });
    expect(failure).toMatchObject({ hint: expect.stringMatching(/\S/) });
    expect(readdirSync(directory)).toEqual(before);
  });

  test('is refused with exit code 2 if it is a file', async () => {
    const { path } = await filled();
    const file = join(tempDir(), 'file');
    writeFileSync(file, 'mine');
    for (const directory of [file, join(file, 'below')]) {
      expect(await thrownBy(lakeOf(path, { directory }))).toMatchObject({
        exitCode: 2,
        message: `${directory} is not a folder`,
      });
    }
  });

  test('is used by one publish at a time: exit code 75', { tags: 'ci/rare' }, async () => {
    const { path } = await filled();
    const { lake } = await lakeOf(path);
    const holder = startScript(
      `import { Lake } from './src/publish/lake.ts';
       await Lake.open(process.env.LAKE);
       console.log('open');
       setInterval(() => {}, 1000);`,
      { env: { LAKE: lake } },
    );
    expect(await firstLine(holder)).toBe('open');
    expect(await thrownBy(lakeOf(path, { directory: lake }))).toMatchObject({
      exitCode: 75,
      message: `another publish works on ${lake}`,
    });
    holder.child.kill('SIGKILL');
    await holder.ended;
    expect((await lakeOf(path, { directory: lake })).parquet?.tables).toHaveLength(publishedTables.length);
  });

  test('keeps the target of a link', async () => {
    const { path } = await filled();
    const other = (await lakeOf(path)).lake;
    const { lake } = await lakeOf(path);
    symlinkSync(join(other, 'tokens_daily_by_model'), join(lake, 'tools_daily_by_hook_2'));
    mkdirSync(join(lake, 'tools_daily', 'org_id=x'), { recursive: true });
    symlinkSync(
      join(other, 'tokens_daily_by_model/org_id=org_1/month=2026-02'),
      join(lake, 'tools_daily', 'org_id=x', 'month=2026-02'),
    );
    const before = filesIn(other);
    await lakeOf(path, { directory: lake });
    expect(filesIn(other)).toEqual(before);
  });
});

describe('a disk', () => {
  test('that is full ends a publish with exit code 6 and the path; existing files stay whole, and the next publish continues', {
    tags: 'ci/again',
  }, async () => {
    const warehouse = await filled();
    const { lake } = await lakeOf(warehouse.path);
    const before = await rowsIn(lake, tables.tokensDailyByModel);
    const models = Array.from({ length: 9_000 }, (_, n) => [
      `model ${n} ${n * 7919}`,
      null,
      n,
      n,
      n,
      n,
      n,
      null,
    ]);
    await commitDay(warehouse, commitOf({ rows: { tokens_daily_by_model: models } }));
    // The kernel refuses to let a file grow beyond the limit, as it does on a full disk. 512 bytes per block.
    const script = startScript(
      `import { publishFrom } from './test/support/publish/publish-from.ts';
       import { tables } from './schema/tables.ts';
       try {
         const directory = process.env.LAKE;
         await publishFrom(process.env.WAREHOUSE, { parquet: { directory, tables: [tables.tokensDailyByModel], force: false } });
       } catch ({ exitCode, message, hint }) {
         console.log(JSON.stringify({ exitCode, message, hint }));
       }`,
      { env: { WAREHOUSE: warehouse.path, LAKE: lake }, limits: "trap '' XFSZ; ulimit -f 200" },
    );
    const { lines, stderr } = await script.ended;
    expect(stderr).toBe('');
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(join(lake, 'tokens_daily_by_model')),
      hint: expect.stringContaining('free space'),
    });
    expect(await rowsIn(lake, tables.tokensDailyByModel)).toEqual(before);
    expect(readdirSync(lake).filter((name) => name.includes('part'))).toEqual([]);
    await lakeOf(warehouse.path, { directory: lake });
    expect(await rowsIn(lake, tables.tokensDailyByModel)).toHaveLength(9_000);
  });

  test('that is not writable ends a publish with exit code 6 and the path', async () => {
    const { lake } = await lakeOf((await filled()).path);
    const missing = join(lake, 'below');
    chmodSync(join(lake, '..'), 0o755);
    chmodSync(lake, 0o555);
    for (const directory of [lake, missing]) {
      const script = startScript(
        `import { Lake } from './src/publish/lake.ts';
         try {
           await Lake.open(process.env.LAKE);
         } catch ({ exitCode, message, hint }) {
           console.log(JSON.stringify({ exitCode, message, hint }));
         }`,
        { env: { LAKE: directory }, unprivileged: true },
      );
      expect(JSON.parse(await firstLine(script))).toEqual({
        exitCode: 6,
        message: expect.stringContaining(directory),
        hint: expect.stringMatching(/right to write/),
      });
    }
    chmodSync(lake, 0o700);
  });

  test('that ignores case is refused for two organizations that differ only in case', () => {
    const path = (org: string) => `tokens_daily/org_id=${org}/month=2026-02/data.parquet`;
    expect(sameButForCase(['a', 'B', 'c'].map(path))).toBeUndefined();
    expect(sameButForCase(['org', 'b', 'Org'].map(path))).toEqual([path('org'), path('Org')]);
    expect(sameButForCase(['\u00e9', 'e\u0301'].map(path))).toEqual([path('\u00e9'), path('e\u0301')]);
  });
});
