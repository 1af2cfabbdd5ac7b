import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { PAGE_KINDS } from '../../../src/look/pages/all-pages.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-02-12');
const HASH: EmailPolicy = { mode: 'drop' };
const NONE: EmailPolicy = { mode: 'drop', users: 'none' };
const WHY = 'nothing is kept of single users';

onEachDatabase((database) => {
  const warehouseWithoutUsers = async (policy: EmailPolicy = NONE) => {
    const rig = await createRig({ today, users: 12, reports: 4 }, { database });
    const { report } = await rig.run({ settings: { emails: policy } });
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
    const folder = tempDir();
    const env = { ...envOf(rig), DAYWALK_EMAILS: 'drop', DAYWALK_USERS: policy === NONE ? 'none' : 'keep' };
    const call = (...args: string[]) => daywalkInProcess(args, { env });
    const load = async (what: string, csv: string) => {
      const file = join(folder, `${what}.csv`);
      writeFileSync(file, csv);
      const { code, stderr } = await call(what, 'load', file);
      expect(code, stderr).toBe(0);
    };
    await load('prices', 'valid_from,price_per_million,currency\n2026-01-01,10,EUR\n');
    const focus = async (file: string, ...args: string[]) => {
      const written = await call(
        'focus',
        '--month',
        '2026-01',
        '--out',
        join(folder, file),
        '--json',
        ...args,
      );
      expect(written.code, written.stderr).toBe(0);
      return { report: JSON.parse(written.stdout), text: readFileSync(join(folder, file), 'utf8') };
    };
    return { rig, call, load, focus, folder };
  };

  test('an invoice is checked by model, and one with teams is refused with the reason', async () => {
    const { call, focus, folder } = await warehouseWithoutUsers();
    await focus('f.csv');
    const agreed = await call('invoice', 'check', join(folder, 'f.csv'), '--month', '2026-01', '--json');
    expect([agreed.code, JSON.parse(agreed.stdout).verdict], agreed.stderr).toEqual([0, 'agreed']);
    writeFileSync(join(folder, 'teams.csv'), 'team,credits\ncore,1\n');
    const refused = await call('invoice', 'check', join(folder, 'teams.csv'), '--month', '2026-01');
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(`teams.csv:2: ${WHY}, so what the team core has consumed is not known`);
  });

  test('a metric of users is null with the reason, and no user can be asked for', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, call } = await warehouseWithoutUsers();
    for (const metric of ['billable_tokens', 'active_users', 'cost', 'licensed_users', 'tokens_per_commit']) {
      const { code, stdout } = await call('metric', metric, '--by', 'week', '--json');
      const { rows, days, warnings, until } = JSON.parse(stdout);
      expect([code, until, days.expected, days.missing]).toEqual([0, '2026-02-11', 0, []]);
      expect(rows.length).toBeGreaterThan(3);
      expect(rows.filter(({ value }: { value: unknown }) => value !== null)).toEqual([]);
      expect(warnings).toEqual([`${WHY}, so ${metric} is not known`]);
    }
    const byUser = await call('metric', 'billable_tokens', '--by', 'user');
    expect([byUser.code, byUser.stderr]).toEqual([2, expect.stringContaining(WHY)]);
    for (const filter of ['--user', '--team']) {
      const one = await call('metric', 'billable_tokens', filter, 'somebody');
      expect([one.code, one.stderr]).toEqual([2, expect.stringContaining(WHY)]);
    }
    const cost = await call('metric', 'published_cost', '--json');
    const [credits = 0] = await rig.column<number>('SELECT SUM(billable_tokens) FROM tokens_daily');
    expect(JSON.parse(cost.stdout)).toMatchObject({ unit: 'EUR', warnings: [] });
    expect(JSON.parse(cost.stdout).rows[0].value).toBeCloseTo((credits * 10) / 1e6, 6);
    const byModel = await call('metric', 'published_cost', '--by', 'model', '--json');
    expect(JSON.parse(byModel.stdout).rows.length).toBeGreaterThan(1);
  });

  test('a FOCUS file has a charge for each model of a day, and the charges add up to the total of the day', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, focus } = await warehouseWithoutUsers();
    const { report, text } = await focus('a.csv');
    expect(report.warnings).toContainEqual(expect.stringContaining(WHY));
    expect(report.warnings.join()).not.toContain('people load');
    const [credits = 0] = await rig.column<number>(
      `SELECT SUM(billable_tokens) FROM tokens_daily WHERE CAST(date AS TEXT) LIKE '2026-01-%'`,
    );
    expect(report.total.billable_tokens).toBeCloseTo(credits, 3);
    expect(report.unattributed.billable_tokens).toBeCloseTo(0, 3);
    expect(text).not.toContain('User');
    const [models = 0] = await rig.column<number>(
      `SELECT COUNT(*) FROM tokens_daily_by_model WHERE CAST(date AS TEXT) LIKE '2026-01-%'`,
    );
    expect(text.trim().split('\n')).toHaveLength(1 + models);
    expect((await focus('b.csv', '--corrects', join(report.file))).report.total.rows).toBe(0);
  });

  test('a correction of a FOCUS file that named users names nobody', { tags: 'ci/variant' }, async () => {
    const { rig, call, focus, folder } = await warehouseWithoutUsers(HASH);
    const named = await focus('named.csv');
    expect(named.text).toContain('user_0');
    const env = { ...envOf(rig), DAYWALK_EMAILS: 'drop', DAYWALK_USERS: 'none' };
    const applied = await daywalkInProcess(['privacy', 'apply', '--yes'], { env });
    expect(applied.code, applied.stderr).toBe(0);
    const run = await daywalkInProcess(['run', '--quiet'], { env });
    expect(run.code, run.stderr).toBe(0);
    const { report, text } = await focus('anonymous.csv', '--corrects', join(folder, 'named.csv'));
    expect(text).not.toContain('user_0');
    expect(report.month_total.billable_tokens).toBeCloseTo(named.report.month_total.billable_tokens, 3);
    const together = named.report.total.billable_tokens + report.total.billable_tokens;
    expect(together).toBeCloseTo(named.report.month_total.billable_tokens, 3);
    expect((await call('verify')).code).toBe(0);
  });

  test('budgets, reports and every page open, and say why numbers are not there', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, call, load, folder } = await warehouseWithoutUsers();
    await load('budget', 'month,team,amount,currency\n2026-02,Core,100,EUR\n');
    const budgets = await call('budget', 'check', '--json');
    expect(budgets.code, budgets.stderr).toBe(0);
    expect(JSON.parse(budgets.stdout)).toMatchObject({ teams: [{ status: 'no data', cost_so_far: null }] });
    expect((await call('budget', 'check')).stdout).toContain(WHY);
    const report = join(folder, 'report.html');
    expect((await call('report', '--out', report)).code).toBe(0);
    expect(readFileSync(report, 'utf8').toLowerCase()).toContain(WHY);
    const dashboard = await serve(rig.place);
    for (const { path } of PAGE_KINDS) {
      const shown = await dashboard.ask(path.replace(':subject', 'somebody'));
      expect([path, shown.status]).toEqual([path, 200]);
      const saysWhy = shown.body.toLowerCase().includes(WHY);
      const isPublished = ['/readiness', '/data'].includes(path);
      expect([path, saysWhy || isPublished]).toEqual([path, true]);
      for (const wrong of ['people load', 'No day of this period is stored', 'no day of the period'])
        expect([path, shown.body.includes(wrong) && wrong]).toEqual([path, false]);
    }
    expect(dashboard.failures).toEqual([]);
    expect((await call('status', '--health')).code).toBe(0);
    expect((await call('verify')).code).toBe(0);
  });
});
