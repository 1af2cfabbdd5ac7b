import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { PAGE_KINDS } from '../../../src/look/pages/all-pages.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-05-13');
/** A hundred days before today: the first day whose people are kept, a Monday. */
const KEPT = parseDay('2026-02-02');
const LIMIT = { retainUsers: { count: 100, unit: 'd' } } as const;
const WHY = `rows about people before ${KEPT} have expired`;

onEachDatabase((database) => {
  const expired = async () => {
    const rig = await createRig({ today, users: 12, reports: 1 }, { database });
    for (const night of [-2, -1, 0]) await rig.run({ now: shiftDay(today, night) });
    const published = () => rig.sql('SELECT * FROM published_weeks ORDER BY 1, 2, 3, 4, 5');
    const overview = (view: string) => rig.sql(`SELECT * FROM ${view} ORDER BY 1, 2`);
    const before = {
      weeks: await published(),
      overviews: [await overview('weekly_overview'), await overview('monthly_overview')],
    };
    const { report } = await rig.run({ settings: LIMIT });
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
    const folder = tempDir();
    const env = { ...envOf(rig), DAYWALK_NOW: `${today}T04:00:00Z` };
    const call = (...args: string[]) => daywalkInProcess(args, { env });
    const metric = async (...args: string[]) => {
      const { code, stdout, stderr } = await call('metric', ...args, '--json');
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    };
    return { rig, call, metric, published, overview, before, folder };
  };

  test('no figure rests on people who have expired: it is null with the reason, and as before elsewhere', {
    tags: 'ci/rare',
  }, async () => {
    const place = await expired();
    await expectMetrics(place);
    await expectViews(place);
    await expectFocus(place);
  });

  async function expectMetrics({ rig, metric }: Awaited<ReturnType<typeof expired>>) {
    const byWeek = await metric('active_users', '--by', 'week', '--from', '2026-01-14');
    expect(byWeek.warnings).toEqual([`${WHY}, so active_users is not known there`]);
    const values = (answer: typeof byWeek) => answer.rows.map(({ value }: { value: number | null }) => value);
    expect(values(byWeek).slice(0, 3)).toEqual([null, null, null]);
    expect(values(byWeek).slice(3)).not.toContain(null);
    const byMonth = await metric('billable_tokens', '--by', 'month', '--from', '2026-01-14');
    expect(values(byMonth).map((value: number | null) => value === null)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(values(await metric('sessions', '--from', '2026-02-01', '--until', '2026-02-28'))).toEqual([null]);
    const kept = await metric('sessions', '--from', KEPT);
    expect([values(kept), kept.warnings]).toEqual([
      [await rig.value('SELECT SUM(sessions) FROM user_daily')],
      [],
    ]);
    // Without a first day, a question is about the days that are kept.
    const whole = await metric('sessions');
    expect([whole.from, values(whole), whole.days.missing]).toEqual([KEPT, values(kept), []]);
    for (const from of ['2026-01-14', KEPT]) {
      const fresh = await metric('new_users', '--by', 'week', '--from', from);
      expect(new Set(values(fresh))).toEqual(new Set([null]));
      expect(fresh.warnings).toEqual([`${WHY}, so new_users is not known there`]);
    }
    const published = await metric('published_billable_tokens', '--from', '2026-01-14');
    expect([values(published), published.warnings]).toEqual([
      [await rig.value('SELECT SUM(billable_tokens) FROM tokens_daily')],
      [],
    ]);
  }

  /** Also of coverage and published weeks. */
  async function expectViews({
    rig,
    published,
    overview,
    before,
    call,
  }: Awaited<ReturnType<typeof expired>>) {
    expect(before.weeks.length).toBeGreaterThan(50);
    expect(await published()).toEqual(before.weeks);
    const weeks = await overview('weekly_overview');
    for (const [index, week] of weeks.entries()) {
      const isKept = String(week['week_start']) >= KEPT;
      const { active_users, new_users, days_held, ...rest } = before.overviews[0]?.[index] ?? {};
      expect(week).toEqual({
        ...rest,
        days_held,
        active_users: isKept ? active_users : null,
        new_users: null,
      });
      expect(new_users).not.toBeNull();
    }
    const months = await overview('monthly_overview');
    expect(months.map(({ active_users }) => active_users === null)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    const open = await rig.sql(
      `SELECT * FROM coverage WHERE stream = 'users' AND date < '${KEPT}' AND (is_expected OR state <> 'expired')`,
    );
    expect(open).toEqual([]);
    const status = await call('status', '--health');
    expect([status.code, (await call('verify')).code]).toEqual([0, 0]);
  }

  /** A file of a month that has expired in part has a charge for each model, and names nobody. */
  async function expectFocus({ rig, call, folder }: Awaited<ReturnType<typeof expired>>) {
    const prices = join(folder, 'prices.csv');
    writeFileSync(prices, 'valid_from,price_per_million,currency\n2026-01-01,10,EUR\n');
    expect((await call('prices', 'load', prices)).code).toBe(0);
    const focus = async (month: string) => {
      const file = join(folder, `${month}.csv`);
      const { code, stdout, stderr } = await call('focus', '--month', month, '--out', file, '--json');
      expect(code, stderr).toBe(0);
      return { report: JSON.parse(stdout), text: readFileSync(file, 'utf8') };
    };
    const february = await focus('2026-02');
    expect(february.report.warnings).toContainEqual(expect.stringContaining(WHY));
    expect(february.text).not.toContain('user_0');
    const credits = await rig.value<number>(
      `SELECT SUM(billable_tokens) FROM tokens_daily WHERE CAST(date AS TEXT) LIKE '2026-02-%'`,
    );
    expect(february.report.total.billable_tokens).toBeCloseTo(credits ?? 0, 3);
    const march = await focus('2026-03');
    expect([march.report.warnings.join().includes(WHY), march.text.includes('user_0')]).toEqual([
      false,
      true,
    ]);
    const teams = await rig.column('SELECT DISTINCT month FROM cost_monthly_by_team ORDER BY month');
    expect(teams).toEqual(['2026-03', '2026-04', '2026-05']);
  }

  test('every page opens over days that have expired', { tags: 'ci/variant' }, async () => {
    const { rig } = await expired();
    const dashboard = await serve(rig.place);
    for (const { path } of PAGE_KINDS) {
      for (const query of ['', '?from=2026-01-14', '?from=2026-01-14&until=2026-01-20']) {
        const shown = await dashboard.ask(`${path.replace(':subject', 'user_0')}${query}`);
        expect([path, query, [200, 404].includes(shown.status)]).toEqual([path, query, true]);
      }
    }
    expect(dashboard.failures).toEqual([]);
  });

  test('a page says that people have expired, of its period and of the span before; not that nothing is stored', {
    tags: 'ci/rare',
  }, async () => {
    const { rig } = await expired();
    const dashboard = await serve(rig.place, { clock: new FakeClock({ now: `${today}T04:00:00Z` }) });
    const user = await rig.value('SELECT user_id FROM user_daily ORDER BY 1');
    const pages = ['/', '/teams', '/teams/unassigned', '/people', `/people/${user}`, '/explore'];
    for (const [query, counted] of [
      ['from=2026-01-26&until=2026-02-08', 'Rows'],
      ['from=2026-02-09&until=2026-02-22', 'rows'],
    ] as const) {
      for (const page of pages) {
        const { body } = await dashboard.ask(`${page}?${query}`);
        expect([page, query, body.includes(WHY.replace('rows', counted))]).toEqual([page, query, true]);
        expect(body).not.toMatch(/othing is stored|No day of this period|sent no value|it is new|>new</);
        expect(body).not.toMatch(/there is nothing to compare with|First active/);
      }
    }
  });
});
