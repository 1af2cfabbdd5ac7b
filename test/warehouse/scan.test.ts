import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { byKey } from '../../schema/order.ts';
import { allTables, tables } from '../../schema/tables.ts';
import { parseDay } from '../../src/core/day.ts';
import type { Row } from '../../src/warehouse/port.ts';
import { commitOf } from '../support/commit-of.ts';
import { openTemporary } from '../support/warehouse.ts';

const model = (id: string): Row => [id, null, 1, 1, 1, 1, 1, null];

async function collect<Item>(chunks: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const chunk of chunks) all.push(...chunk);
  return all;
}

async function filled() {
  const warehouse = await openTemporary();
  const rows = { tokens_daily_by_model: Array.from({ length: 2300 }, (_, n) => model(`m ${n}`)) };
  await warehouse.commitDay(commitOf({ day: '2026-02-02', rows }));
  await warehouse.commitDay(
    commitOf({ day: '2026-02-01', rows: { tokens_daily_by_model: ['\u{1F600}', '\uE000', 'a'].map(model) } }),
  );
  await warehouse.commitDay(commitOf({ orgId: 'org_0', rows: { tokens_daily_by_model: [model('a')] } }));
  return warehouse;
}

describe('a scan', () => {
  it('hands out all rows of a table in key order, in chunks of bounded size', async () => {
    const warehouse = await filled();
    const sizes: number[] = [];
    for await (const chunk of warehouse.scan(tables.tokensDailyByModel)) sizes.push(chunk.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(2304);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
    const rows = await collect(warehouse.scan(tables.tokensDailyByModel));
    const compare = byKey(tables.tokensDailyByModel);
    expect(rows.every((row, index) => index === 0 || compare(rows[index - 1] ?? [], row) < 0)).toBe(true);
    expect(rows.slice(0, 4).map((row) => row.slice(0, 3))).toEqual([
      ['org_0', '2026-02-01', 'a'],
      ['org_1', '2026-02-01', 'a'],
      ['org_1', '2026-02-01', '\uE000'],
      ['org_1', '2026-02-01', '\u{1F600}'],
    ]);
  });

  it('hands out the rows of an organization, or of one of its days', async () => {
    const warehouse = await filled();
    expect(await collect(warehouse.scan(tables.tokensDailyByModel, { orgId: 'org_0' }))).toHaveLength(1);
    expect(await collect(warehouse.scan(tables.tokensDailyByModel, { orgId: 'org_1' }))).toHaveLength(2303);
    const day = parseDay('2026-02-01');
    expect(
      await collect(
        warehouse.scan(tables.tokensDailyByModel, { orgId: 'org_1', firstDay: day, lastDay: day }),
      ),
    ).toHaveLength(3);
    expect(
      await collect(
        warehouse.scan(tables.tokensDailyByModel, { orgId: 'org_9', firstDay: day, lastDay: day }),
      ),
    ).toEqual([]);
  });

  it('can read every table of an empty warehouse', async () => {
    const warehouse = await openTemporary();
    for (const table of allTables) expect(await collect(warehouse.scan(table)), table.name).toEqual([]);
  });

  it('can be left half way, and be read twice at once', async () => {
    const warehouse = await filled();
    for await (const chunk of warehouse.scan(tables.tokensDailyByModel)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    const both = await Promise.all([1, 2].map(() => collect(warehouse.scan(tables.tokensDailyByModel))));
    expect(both[0]).toEqual(both[1]);
    expect(
      await warehouse.commitDay(
        commitOf({ day: '2026-02-03', rows: { tokens_daily: [[1, 1, 1, 1, 1, null]] } }),
      ),
    ).toMatchObject({ rowsWritten: 1 });
  });

  it('hands numbers and texts out as they went in', async () => {
    const warehouse = await openTemporary();
    const values = [
      0,
      1,
      -1,
      0.1,
      1e-7,
      1.5e300,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      2 ** 31,
      2 ** 32 + 1,
      null,
    ];
    const texts = [
      '',
      ' ',
      '1',
      '1.0',
      '1e3',
      '007',
      'NULL',
      "it's",
      '\u{1F600}',
      '\n',
      '\u001b[31m',
      '__proto__',
      '=cmd()',
    ];
    const numbers = values.map(
      (value, index): Row => [`v ${index}`, null, value, value, value, value, value, null],
    );
    const named = texts.map(
      (text): Row => [`t ${text}`, text, 1, 1, 1, 1, 1, `{"x":${JSON.stringify(text)}}`],
    );
    const commit = commitOf({ rows: { tokens_daily_by_model: [...numbers, ...named] } });
    await warehouse.commitDay(commit);
    const stored = await collect(warehouse.scan(tables.tokensDailyByModel));
    expect(stored).toEqual(commit.tables.find(({ table }) => table === tables.tokensDailyByModel)?.rows);
  });
});

describe('a snapshot', () => {
  it('shows one state to all its reads, whatever another process commits meanwhile', async () => {
    const warehouse = await filled();
    const scan = () => collect(warehouse.scan(tables.tokensDailyByModel));
    const seen = await warehouse.inSnapshot(async () => {
      const before = await scan();
      const foreign = new Sqlite(warehouse.location);
      foreign.exec('DELETE FROM tokens_daily_by_model');
      foreign.close();
      return { before, after: await scan() };
    });
    expect(seen.after).toEqual(seen.before);
    expect(await scan()).toEqual([]);
  });
});
