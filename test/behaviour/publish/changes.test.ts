import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tables, tablesOf } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { changedBetween, filesIn, lakeOf, rowsIn } from '../../support/publish/lake.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';

import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

const yesterday = parseDay('2026-02-09');
const LEDGER = ['export_runs', 'export_units', 'restatements'];

/** Partitions as the lake's folders name them, without the organization, each once. */
const shortened = (paths: readonly string[]) => [
  ...new Set(paths.map((path) => path.replace(/\/org_id=[^/]+/, '').replace('/data.parquet', ''))),
];

/** A warehouse of two organizations with two months each. */
async function twoByTwo() {
  const warehouse = await openTemporary();
  const put = (orgId: string, day: string, n: number) =>
    commitDay(
      warehouse,
      commitOf({
        orgId,
        day,
        rows:
          n === 0
            ? {}
            : {
                tokens_daily: [[n, n, n, n, n, null]],
                tokens_daily_by_model: [['m', null, n, n, n, n, n, null]],
              },
      }),
    );
  for (const orgId of ['org_1', 'org_2'])
    for (const day of ['2026-02-01', '2026-03-01']) await put(orgId, day, 1);
  return { warehouse, put };
}

describe('a second publish', () => {
  test('writes nothing, not even its notes', async () => {
    const rig = await exportedRig({ users: 20, reports: 8 });
    const { lake } = await lakeOf(rig.path);
    const before = { files: filesIn(lake), notes: statSync(join(lake, '_daywalk.json')).ino };
    const { parquet } = await lakeOf(rig.path, { directory: lake });
    expect({ files: filesIn(lake), notes: statSync(join(lake, '_daywalk.json')).ino }).toEqual(before);
    for (const table of parquet?.tables ?? []) {
      expect(table).toMatchObject({ written: 0, rowsWritten: 0, bytesWritten: 0, removed: 0 });
      expect(table.unchanged, table.table).toBeGreaterThan(0);
    }
  });

  test('writes the same bytes when it writes everything again', { tags: 'ci/again' }, async () => {
    const { warehouse } = await twoByTwo();
    const { lake } = await lakeOf(warehouse.path);
    const [before, notes] = [filesIn(lake), readFileSync(join(lake, '_daywalk.json'), 'utf8')];
    await lakeOf(warehouse.path, { directory: lake, force: true });
    expect(changedBetween(before, filesIn(lake))).toEqual(Object.keys(before));
    expect(readFileSync(join(lake, '_daywalk.json'), 'utf8')).toBe(notes);
  });

  test('after a restatement writes only the partitions of that month whose rows changed', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await exportedRig({ users: 20, reports: 8 });
    const { lake } = await lakeOf(rig.path);
    const before = filesIn(lake);
    rig.emulator.revise({ kind: 'restate', day: yesterday });
    // The response lacks more than half of the tools, so the loss is doubted.
    await rig.run();
    await rig.run({ acceptLoss: true });
    expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(5);
    await lakeOf(rig.path, { directory: lake });
    const changed = shortened(changedBetween(before, filesIn(lake)));
    expect(changed).toEqual(
      expect.arrayContaining(['user_daily/month=2026-02', 'tokens_daily/month=2026-02']),
    );
    expect(changed.filter((path) => path.includes('month=2026-01'))).toEqual([]);
    const others = changed.filter((path) => !path.includes('/month='));
    expect(others).toEqual(LEDGER);
  });

  test('with changed languages of users does not write the tokens', { tags: 'ci/again' }, async () => {
    const rig = await exportedRig({ users: 20, reports: 8 });
    const { lake } = await lakeOf(rig.path);
    const before = filesIn(lake);
    rig.emulator.revise({ kind: 'vanish-languages', day: yesterday, count: 1 });
    await rig.run({ streams: ['users'] });
    await lakeOf(rig.path, { directory: lake });
    const changed = shortened(changedBetween(before, filesIn(lake)));
    expect(changed).toEqual([...LEDGER, 'user_daily/month=2026-02', 'user_daily_languages/month=2026-02']);
  });

  test('does not write a table of a changed unit whose own rows are unchanged', async () => {
    const { warehouse } = await twoByTwo();
    const { lake } = await lakeOf(warehouse.path);
    const before = filesIn(lake);
    await commitDay(
      warehouse,
      commitOf({
        day: '2026-03-01',
        rows: {
          tokens_daily: [[1, 1, 1, 1, 1, null]],
          tokens_daily_by_model: [['m', null, 2, 2, 2, 2, 2, null]],
        },
      }),
    );
    await lakeOf(warehouse.path, { directory: lake, tables: tablesOf('tokens') });
    expect(changedBetween(before, filesIn(lake))).toEqual([
      'tokens_daily_by_model/org_id=org_1/month=2026-03/data.parquet',
    ]);
  });
});

describe('a partition', () => {
  test('without rows is removed, with its own folders', async () => {
    const { warehouse, put } = await twoByTwo();
    const { lake } = await lakeOf(warehouse.path);
    await put('org_1', '2026-02-01', 0);
    await put('org_2', '2026-02-01', 0);
    await put('org_2', '2026-03-01', 0);
    const { parquet } = await lakeOf(warehouse.path, { directory: lake });
    expect(parquet?.tables[0]).toMatchObject({ table: 'tokens_daily', removed: 3, unchanged: 1, rows: 1 });
    expect(readdirSync(join(lake, 'tokens_daily'), { recursive: true })).toEqual([
      'org_id=org_1',
      'org_id=org_1/month=2026-03',
      'org_id=org_1/month=2026-03/data.parquet',
    ]);
    await put('org_2', '2026-03-01', 7);
    await lakeOf(warehouse.path, { directory: lake });
    expect((await rowsIn(lake, tables.tokensDaily)).map(([org, day]) => `${org} ${day}`)).toEqual([
      'org_1 2026-03-01',
      'org_2 2026-03-01',
    ]);
  });

  test('that another program removed, truncated or added is repaired', async () => {
    const { warehouse } = await twoByTwo();
    const { lake } = await lakeOf(warehouse.path, { tables: [tables.tokensDaily] });
    const expected = await rowsIn(lake, tables.tokensDaily);
    const path = (org: string, month: string) =>
      join(lake, `tokens_daily/org_id=${org}/month=${month}/data.parquet`);
    rmSync(path('org_1', '2026-02'));
    appendFileSync(path('org_1', '2026-03'), 'x');
    mkdirSync(dirname(path('org_9', '2026-01')), { recursive: true });
    writeFileSync(path('org_9', '2026-01'), readFileSync(path('org_2', '2026-02')));
    const { parquet } = await lakeOf(warehouse.path, { directory: lake, tables: [tables.tokensDaily] });
    expect(parquet?.tables[0]).toMatchObject({ written: 2, unchanged: 2, removed: 1 });
    expect(await rowsIn(lake, tables.tokensDaily)).toEqual(expected);
  });

  test('of a table that is not published stays unchanged', async () => {
    const { warehouse, put } = await twoByTwo();
    const { lake } = await lakeOf(warehouse.path);
    const before = filesIn(lake);
    await put('org_1', '2026-02-01', 0);
    await put('org_1', '2026-03-01', 5);
    const { parquet } = await lakeOf(warehouse.path, { directory: lake, tables: [tables.tokensDaily] });
    expect(parquet?.tables.map(({ table }) => table)).toEqual(['tokens_daily']);
    expect(changedBetween(before, filesIn(lake))).toEqual([
      'tokens_daily/org_id=org_1/month=2026-02/data.parquet',
      'tokens_daily/org_id=org_1/month=2026-03/data.parquet',
    ]);
  });
});

describe('the notes of a lake', () => {
  test('make the next publish write everything again if they are damaged', async () => {
    const { warehouse } = await twoByTwo();
    const { lake } = await lakeOf(warehouse.path);
    const notes = join(lake, '_daywalk.json');
    const text = readFileSync(notes, 'utf8');
    const before = filesIn(lake);
    writeFileSync(notes, text.slice(0, 500));
    await lakeOf(warehouse.path, { directory: lake });
    expect(changedBetween(before, filesIn(lake))).toEqual(Object.keys(before));
    expect(readFileSync(notes, 'utf8')).toBe(text);
  });

  test('never lead to files outside the lake', async () => {
    const { warehouse } = await twoByTwo();
    const { lake } = await lakeOf(warehouse.path);
    const outside = join(dirname(lake), 'data.parquet');
    writeFileSync(outside, 'mine');
    const notes = JSON.parse(readFileSync(join(lake, '_daywalk.json'), 'utf8'));
    const facts = { signature: 'x', rows: 1, bytes: 4, sha256: 'x' };
    notes.partitions['../data.parquet'] = facts;
    notes.partitions['tokens_daily/org_id=../../../data.parquet'] = facts;
    writeFileSync(join(lake, '_daywalk.json'), JSON.stringify(notes));
    await lakeOf(warehouse.path, { directory: lake });
    expect(readFileSync(outside, 'utf8')).toBe('mine');
  });
});
