import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COLUMN_NAMES } from '../../../src/bi/focus/columns.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

describe('daywalk focus', () => {
  test('writes the month of an export, and compares it with the metric cost', async () => {
    const rig = await exportedRig({ users: 5, reports: 1 });
    await rig.place.execute(
      "INSERT INTO prices SELECT DISTINCT org_id, '2026-01-01', NULL, 'EUR', 12.5 FROM export_units",
    );
    const cwd = tempDir();
    const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: '2026-02-10T03:00:00Z', DAYWALK_LOG: 'pretty' };
    const call = (...args: string[]) =>
      daywalkInProcess(['focus', '--month', '2026-02', ...args], { cwd, env });

    const { code, stdout, stderr } = await call('--out', 'f.csv', '--json');
    expect(code).toBe(0);
    const tokens = Number(
      await rig.value("SELECT SUM(billable_tokens) FROM tokens_daily WHERE date >= '2026-02-01'"),
    );
    expect(tokens).toBeGreaterThan(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ file: join(cwd, 'f.csv'), kind: 'original', currency: 'EUR' });
    expect(report.total.billable_tokens).toBe(tokens);
    expect(report.total.cost / ((tokens * 12.5) / 1e6)).toBeCloseTo(1, 12);
    expect(report.metric_cost / report.total.cost).toBeCloseTo(1, 9);
    expect(report.difference).toBeCloseTo(0, 6);
    // Days to come are no holes.
    expect(report.days).toMatchObject({ expected: 9, missing: ['2026-02-08'] });
    expect(stderr).toContain('1 of 9 days are not stored and not in the file: 2026-02-08');
    expect(stderr).toContain('2026-02 is not over: the days from 2026-02-10 on are still to come');
    expect(stderr).toContain('daywalk people load');

    // A day of users without its tokens, so that the metric is above the file.
    const gone = "date = '2026-02-06'";
    for (const table of ['tokens_daily', 'tokens_daily_by_user_model']) {
      await rig.place.execute(`DELETE FROM ${table} WHERE ${gone}`);
    }
    const corrected = await call('--out', 'c.csv', '--corrects', 'f.csv', '--provider', 'Agent platform');
    expect(corrected.code).toBe(0);
    expect(corrected.stdout).toMatch(/metric cost: [\d,.]+; the month is [\d,.]+ below it/);
    expect(corrected.stdout).toMatch(/^restated +\d+ +-[\d,]+ +-[\d,.]+$/m);
    expect(corrected.stderr).toContain('2026-02 is not over');

    const again = await call('--out', 'c2.csv', '--corrects', 'f.csv', '--corrects', 'c.csv');
    expect(again.stdout).toContain('nothing has changed since these files were issued');
    expect(readFileSync(join(cwd, 'c2.csv'), 'utf8')).toBe(`${COLUMN_NAMES.join(',')}\n`);
  });

  test.each([
    [['--out', 'f.csv'], '--month'],
    [['--month', '2026-02'], '--out'],
    [['--month', '2026-13', '--out', 'f.csv'], '--month: "2026-13" is not a calendar month'],
    [['--month', '2026-02-01', '--out', 'f.csv'], '--month: "2026-02-01" is not a calendar month'],
    [['--month', '2026-02', '--out', 'f.xlsx'], '--out: f.xlsx names no format'],
    [['--month', '2026-02', '--out', 'f.csv', '--provider', ' '], '--provider: " " is not a name'],
    [['--month', '2026-02', '--out', 'f.csv', '--warehouse', 'none.db'], 'there is no warehouse at none.db'],
  ])('%j is refused: %s', async (args, message) => {
    const { code, stderr } = await daywalkInProcess(['focus', ...args], { cwd: tempDir() });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

test('docs/focus.md explains every column', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/focus.md'), 'utf8');
  expect(COLUMN_NAMES.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
