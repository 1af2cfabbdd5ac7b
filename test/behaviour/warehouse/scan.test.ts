import { describe, expect, it } from 'vitest';
import { decodeRows } from '../../../schema/digest.ts';
import { byKey, type Values } from '../../../schema/row.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { failUnit } from '../../../src/ledger/ledger.ts';
import { writeState } from '../../../src/records/remembered.ts';
import { readinessKey } from '../../../src/units/unit.ts';
import { collect } from '../../support/warehouse/collect.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { type Database, needsSessions, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const DAY: Values = [1, 1, 1, 1, 1, null];
const model = (id: string): Values => [id, null, 1, 1, 1, 1, 1, null];

async function filled(database: Database) {
  const warehouse = await open(database);
  const rows = { tokens_daily_by_model: Array.from({ length: 2300 }, (_, n) => model(`m ${n}`)) };
  await commitDay(warehouse, commitOf({ day: '2026-02-02', rows }));
  await commitDay(
    warehouse,
    commitOf({ day: '2026-02-01', rows: { tokens_daily_by_model: ['\u{1F600}', '\uE000', 'a'].map(model) } }),
  );
  await commitDay(warehouse, commitOf({ orgId: 'org_0', rows: { tokens_daily_by_model: [model('a')] } }));
  return warehouse;
}

onEachDatabase((database) => {
  it('a parallel read does not block commits', async () => {
    const warehouse = await filled(database);
    const scope = { orgId: 'org_1', firstDay: parseDay('2026-02-02'), lastDay: parseDay('2026-02-02') };
    const [rows, { rowsWritten }] = await Promise.all([
      warehouse.rowsOf(tables.tokensDailyByModel, scope),
      commitDay(warehouse, commitOf({ day: '2026-02-03', rows: { tokens_daily_by_model: [model('a')] } })),
      writeState(warehouse, 'org_1', 'beside', '{}'),
    ]);
    expect([rows.length, rowsWritten]).toEqual([2300, 1]);
    await warehouse.close();
  });

  describe('a scan', () => {
    it('returns all rows of a table in key order, in chunks of bounded size', async () => {
      const warehouse = await filled(database);
      const sizes: number[] = [];
      for await (const chunk of warehouse.scan(tables.tokensDailyByModel)) sizes.push(chunk.length);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(2304);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(2000);
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

    it('resumes after a row, in the order of the keys', async () => {
      const warehouse = await filled(database);
      for (const orgId of ['org_0', 'org_1']) {
        const all = await collect(warehouse.scan(tables.tokensDailyByModel, { orgId }));
        for (const index of [0, 1, 2, 1500, all.length - 1]) {
          const after = all[index];
          if (after === undefined) continue;
          expect(await collect(warehouse.scan(tables.tokensDailyByModel, { orgId, after }))).toEqual(
            all.slice(index + 1),
          );
        }
      }
    });

    it('returns the rows of an organization', async () => {
      const warehouse = await filled(database);
      const count = async (orgId: string) =>
        (await collect(warehouse.scan(tables.tokensDailyByModel, { orgId }))).length;
      expect(await count('org_0')).toBe(1);
      expect(await count('org_1')).toBe(2303);
      expect(await count('org_9')).toBe(0);
    });

    it('returns the rows of a range of days, which may be open at either end', async () => {
      const warehouse = await open(database);
      for (const day of ['2026-01-31', '2026-02-01', '2026-02-02', '2026-02-10']) {
        await commitDay(warehouse, commitOf({ day, rows: { tokens_daily_by_model: [model(day)] } }));
        await commitDay(warehouse, commitOf({ orgId: 'org_0', day, rows: { tokens_daily: [DAY] } }));
      }
      const days = async (range: { firstDay?: string; lastDay?: string }) => {
        const scope = Object.entries(range).map(([name, day]) => [name, parseDay(day)]);
        const rows = await collect(
          warehouse.scan(tables.tokensDailyByModel, { orgId: 'org_1', ...Object.fromEntries(scope) }),
        );
        return rows.map((row) => row[1]);
      };
      const [first, second, third, last] = ['2026-01-31', '2026-02-01', '2026-02-02', '2026-02-10'];
      expect(await days({})).toEqual([first, second, third, last]);
      expect(await days({ firstDay: '2026-02-01' })).toEqual([second, third, last]);
      expect(await days({ lastDay: '2026-02-02' })).toEqual([first, second, third]);
      expect(await days({ firstDay: '2026-02-01', lastDay: '2026-02-02' })).toEqual([second, third]);
      expect(await days({ firstDay: '2026-02-10', lastDay: '2026-02-10' })).toEqual([last]);
      expect(await days({ firstDay: '2026-02-03', lastDay: '2026-02-09' })).toEqual([]);
      expect(await days({ firstDay: '2026-02-02', lastDay: '2026-02-01' })).toEqual([]);
    });

    it('of the ledger also returns a range of days, without the unit that has no day', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ day: '2026-02-01', rows: { tokens_daily: [DAY] } }));
      await commitDay(warehouse, commitOf({ day: '2026-02-02' }));
      await failUnit(warehouse, {
        unit: readinessKey('org_1'),
        state: 'failed',
        error: 'x',
        requests: 1,
        pulledAt: new Date(),
        rule: commitOf().rule,
      });
      const day = parseDay('2026-02-01');
      const units = await collect(
        warehouse.scan(tables.exportUnits, { orgId: 'org_1', firstDay: day, lastDay: day }),
      );
      expect(units.map((row) => row.slice(0, 3))).toEqual([['org_1', 'tokens', '2026-02-01']]);
      expect(await collect(warehouse.scan(tables.exportUnits, { orgId: 'org_1' }))).toHaveLength(3);
    });

    it('can read every table of an empty warehouse', async () => {
      const warehouse = await open(database);
      for (const table of allTables) expect(await collect(warehouse.scan(table)), table.name).toEqual([]);
    });

    it('can be stopped early, and read twice at the same time', async () => {
      const warehouse = await filled(database);
      for await (const chunk of warehouse.scan(tables.tokensDailyByModel)) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      const both = await Promise.all([1, 2].map(() => collect(warehouse.scan(tables.tokensDailyByModel))));
      expect(both[0]).toEqual(both[1]);
      expect(
        await commitDay(
          warehouse,
          commitOf({ day: '2026-02-03', rows: { tokens_daily: [[1, 1, 1, 1, 1, null]] } }),
        ),
      ).toMatchObject({ rowsWritten: 1 });
    });

    it('returns numbers and texts as stored', async () => {
      const warehouse = await open(database);
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
        (value, index): Values => [`v ${index}`, null, value, value, value, value, value, null],
      );
      const named = texts.map(
        (text): Values => [`t ${text}`, text, 1, 1, 1, 1, 1, `{"x":${JSON.stringify(text)}}`],
      );
      const commit = commitOf({ rows: { tokens_daily_by_model: [...numbers, ...named] } });
      await commitDay(warehouse, commit);
      const stored = await collect(warehouse.scan(tables.tokensDailyByModel));
      const sent = commit.tables.map(decodeRows).find(({ table }) => table === tables.tokensDailyByModel);
      expect(stored).toEqual(sent?.rows);
    });
  });

  describe('a scan of columns', () => {
    it('returns only those columns, in their order, by the key of the table', async () => {
      const warehouse = await filled(database);
      const { tokensDailyByModel: table } = tables;
      const names = ['model_id', 'date'] as const;
      const positions = names.map((name) => Object.keys(table.columns).indexOf(name));
      const rows = await collect(warehouse.scan(table));
      expect(rows.length).toBeGreaterThan(1);
      expect(await collect(warehouse.scan(table, undefined, names))).toEqual(
        rows.map((row) => positions.map((position) => row[position])),
      );
    });
  });

  describe('a snapshot', () => {
    it('shows one state to all its reads, whatever another process commits', async () => {
      needsSessions(database);
      const warehouse = await filled(database);
      const scan = () => collect(warehouse.scan(tables.tokensDailyByModel));
      const seen = await warehouse.inSnapshot(async () => {
        const before = await scan();
        await warehouse.place.execute('DELETE FROM tokens_daily_by_model');
        return { before, after: await scan() };
      });
      expect(seen.after).toEqual(seen.before);
      expect(await scan()).toEqual([]);
    });
  });
});
