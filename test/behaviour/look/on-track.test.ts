import { expect, it } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { daysFrom, parseDay, parseMonth, type UtcDay, weekdayOf } from '../../../src/core/day.ts';
import { checkBudgets } from '../../../src/csv-files/budget-check.ts';
import { readTrack } from '../../../src/look/figures/on-track.ts';
import type { TrackLine } from '../../../src/look/figures/track-line.ts';
import { outlookOf, riskPhrase, trackFigure } from '../../../src/look/figures/track-table.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { readToday } from '../../../src/look/trust.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { phraseText, rowsOf } from '../../support/look/read-pages.ts';
import { load } from '../../support/look/two-months.ts';
import { Collector } from '../../support/metrics/collector.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const UNTIL = parseDay('2026-07-10');
/** What a weekday after the 10th costs in each month before; one until the 10th costs 1 EUR. */
const LATER: Readonly<Record<string, number>> = { '02': 1.5, '03': 0.5, '04': 1.2, '05': 0.9, '06': 1.1 };
const isWeekday = (day: string) => weekdayOf(day as UtcDay) <= 5;
const costOn = (day: string) =>
  isWeekday(day) ? (day.slice(8) <= '10' ? 1 : (LATER[day.slice(5, 7)] ?? 1)) : 0;
const monthDays = (month: string) => {
  const { first, last } = parseMonth(`2026-${month}`);
  return daysFrom(first, last);
};
const sum = (days: readonly string[]) => days.reduce((total, day) => total + costOn(day), 0);

/** Actual ÷ forecast on the 10th of a month, worked out by hand. */
function errorOf(month: string): number {
  const days = monthDays(month);
  const early = days.filter((day) => day.slice(8) <= '10');
  const forecast = (sum(early) / early.filter(isWeekday).length) * days.filter(isWeekday).length;
  return sum(days) / forecast;
}

async function fill(
  warehouse: Warehouse,
  first: string,
  budgets: Readonly<Record<string, number>>,
): Promise<void> {
  const rows = new Collector('org_1');
  for (const date of daysFrom(parseDay(first), UNTIL)) {
    const at = '2026-07-20T03:00:00.000Z';
    const unit = {
      state: 'loaded',
      run_id: 'run 1',
      rows: 2,
      attempts: 1,
      requests: 1,
      content_sha256: date,
    };
    const times = {
      first_loaded_at: at,
      last_pulled_at: at,
      changed_at: at,
      settled_at: at,
      confirmed: 'data',
    };
    rows.add(tables.exportUnits, { date, stream: 'users', ...unit, ...times });
    for (const user_id of ['ada', 'bob'])
      rows.add(tables.userDaily, { date, user_id, billable_tokens: costOn(date) * 1000 });
  }
  await changeRows(warehouse, { put: rows.all(), remove: [] });
  await refreshRollups(warehouse, { orgId: 'org_1', now: new Date('2026-07-20T03:00:00.000Z') });
  await load(warehouse, tables.prices, [
    { valid_from: '2026-01-14', currency: 'EUR', price_per_million: 1000 },
  ]);
  await load(warehouse, tables.people, [
    { person: 'ada', valid_from: '2026-01-14', team: 'core' },
    { person: 'bob', valid_from: '2026-01-14', team: 'web' },
  ]);
  const month = { month: '2026-07', currency: 'EUR' };
  await load(
    warehouse,
    tables.budgets,
    Object.entries(budgets).map(([team, amount]) => ({ ...month, team, amount })),
  );
}

const trackOf = (
  warehouse: Warehouse,
  most = 2,
  { until = UNTIL, missing }: { readonly until?: UtcDay; readonly missing?: UtcDay } = {},
) =>
  warehouse.inSnapshot(async () => {
    const now = new Date('2026-07-11T03:00:00.000Z');
    const { expectation } = await readToday(warehouse, 'org_1', { units: [], now });
    const overdue =
      missing === undefined ? [] : [{ stream: 'users' as const, day: missing, state: 'pending' as const }];
    const today = { now, expectation: { ...expectation, isLate: false, overdue } };
    const filters = { orgId: 'org_1', from: parseDay(`${until.slice(0, 7)}-01`), until, today };
    const reader = pageReader(warehouse, filters);
    const track = await readTrack(reader);
    return { track, figure: trackFigure(reader, track, { most }) };
  });
const riskOf = (line: TrackLine) => phraseText(riskPhrase(line));

onEachDatabase((database) => {
  it('the risk of a budget is how many earlier forecast errors end over it, the most urgent first', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', { core: 25, web: 5, idle: 10 });
    const { track, figure } = await trackOf(warehouse);
    expect(track.months).toBe(5);
    const [web, core, idle] = track.teams;
    expect(track.teams.map(({ name }) => name)).toEqual(['web', 'core', 'idle']);
    if (web === undefined || core === undefined || idle === undefined) throw new Error('a line is missing');
    // Eight weekdays of July have cost 1 EUR each, and July has 23.
    expect([core.spent.value, core.forecast.value]).toEqual([8, 23]);
    const errors = Object.keys(LATER).map(errorOf);
    const over = errors.filter((error) => 23 * error > 25).length;
    expect(over).toBe(2);
    expect([riskOf(web), riskOf(core), riskOf(idle)]).toEqual(['over now', '2 of 5', '–']);
    expect(core.range?.[0]).toBeCloseTo(23 * Math.min(...errors), 9);
    expect(core.range?.[1]).toBeCloseTo(23 * Math.max(...errors), 9);
    // August and September have 21 and 22 weekdays; they have no budget.
    expect(rowsOf(figure).map((row) => [row[0], row[2], row[3], row[4], row[6]])).toEqual([
      ['July', '16.00', '46.00', '40.00', `${errors.filter((error) => 46 * error > 40).length} of 5`],
      ['Quarter', '16.00', '132', '–', '–'],
      ['web', '8.00', '23.00', '5.00', 'over now'],
      ['core', '8.00', '23.00', '25.00', '2 of 5'],
      ['others (1)', '0.00', '0.00', '10.00', '–'],
    ]);
  });

  it('days that an event closes for all are no working days: of this month, of the earlier ones, and of the quarter', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', { core: 25 });
    // One of eight working days so far, one in February after the 10th, and two in September.
    const closed = ['2026-07-03', '2026-02-11', '2026-09-01', '2026-09-02'];
    await load(
      warehouse,
      tables.events,
      closed.map((date) => ({ date, team: '', text: 'Nobody works', closed: 1 })),
    );
    const { track } = await trackOf(warehouse);
    const core = track.teams.find(({ name }) => name === 'core');
    expect(core?.forecast.value).toBeCloseTo((8 / 7) * 22, 9);
    const errors = Object.keys(LATER).map((month) => errorOf(month) * (month === '02' ? 20 / 19 : 1));
    expect(core?.range?.[0]).toBeCloseTo((8 / 7) * 22 * Math.min(...errors), 9);
    expect(core?.range?.[1]).toBeCloseTo((8 / 7) * 22 * Math.max(...errors), 9);
    const july = (16 / 7) * 22;
    expect(track.quarter?.forecast.value).toBeCloseTo(july + (july * 21) / 22 + (july * 20) / 22, 9);
  });

  it('a month that is over and lacks a day has no forecast and no risk, and says so', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', { core: 25 });
    await load(warehouse, tables.budgets, [{ month: '2026-06', team: 'core', amount: 25, currency: 'EUR' }]);
    const until = parseDay('2026-06-30');
    const whole = await trackOf(warehouse, 2, { until, missing: parseDay('2026-05-31') });
    expect(rowsOf(whole.figure)[0]?.slice(2, 4)).toEqual(['46.80', '46.80']);
    const { figure } = await trackOf(warehouse, 2, { until, missing: parseDay('2026-06-30') });
    expect(rowsOf(figure)[0]?.slice(2, 4)).toEqual(['46.80', '–']);
    expect(figure.notes?.map((note) => phraseText(note).replaceAll(/\s/g, ' '))).toEqual([
      'Nothing is forecast, because days of the month are missing.',
      'Until 30 June, 46.80 of 25.00 EUR were spent (187.2 %), with 23.40 of teams that have none.',
    ]);
  });

  it.each([
    ['2026-05-06', ['June', 'Quarter (days missing)', '–']],
    ['2026-03-31', ['June', 'Quarter', '135']],
  ] as const)('a quarter that lacks a day has no forecast: without %s', async (missing, shown) => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', {});
    await load(warehouse, tables.budgets, [{ month: '2026-06', team: 'core', amount: 25, currency: 'EUR' }]);
    const { figure } = await trackOf(warehouse, 2, {
      until: parseDay('2026-06-29'),
      missing: parseDay(missing),
    });
    const [month, quarter] = rowsOf(figure);
    expect([month?.[0], quarter?.[0], quarter?.[3]]).toEqual(shown);
  });

  it.each([
    [25, '. It is over its budget of 25.00 already.'],
    [250, '. Whether the budget of 250 will hold is not known.'],
  ])('a budget of %d beside a missing day of its month', async (amount, words) => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', {});
    await load(warehouse, tables.budgets, [{ month: '2026-06', team: 'core', amount, currency: 'EUR' }]);
    const until = parseDay('2026-06-29');
    const { track } = await trackOf(warehouse, 2, { until, missing: parseDay('2026-06-10') });
    expect(phraseText(outlookOf({ orgId: 'org_1', from: until, until }, track) ?? [])).toBe(words);
  });

  it('totals are those of the check of budgets', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', { core: 25 });
    const { track } = await trackOf(warehouse);
    const check = await warehouse.inSnapshot(() => checkBudgets(warehouse, 'org_1', parseMonth('2026-07')));
    const all = [...check.teams, ...check.without_budget];
    const total = (name: 'cost_so_far' | 'cost_forecast') =>
      all.reduce((whole, team) => whole + (team[name] ?? 0), 0);
    expect(track.whole.spent.value).toBeCloseTo(total('cost_so_far'), 9);
    expect(track.whole.forecast.value).toBeCloseTo(total('cost_forecast'), 9);
    expect(track.whole.budget.value).toBe(25);
    expect(track.teams.map(({ name }) => name)).toEqual(['core', 'no budget (1)']);
  });

  it('what teams without a budget spend is said beside the budget, and is in no line of teams that have one', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', { core: 25, gone: 1, idle: 1 });
    const { track, figure } = await trackOf(warehouse, 1);
    expect(rowsOf(figure).map(([name, , spent, , budget]) => [name, spent, budget])).toEqual([
      ['July', '16.00', '27.00'],
      ['Quarter', '16.00', '–'],
      ['core', '8.00', '25.00'],
      ['others (2)', '0.00', '2.00'],
      ['no budget (1)', '8.00', '–'],
    ]);
    const outlook = outlookOf({ orgId: 'org_1', from: parseDay('2026-07-01'), until: UNTIL }, track);
    expect(phraseText(outlook ?? [])).toContain(
      'against a budget of 27.00, with 8.00 of teams that have none: it',
    );
  });

  it('where a budget is in another currency than the prices, a sentence says why nothing is said of the budgets', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', { core: 25, web: 5 });
    await warehouse.place.execute("UPDATE budgets SET currency = 'USD' WHERE team = 'web'");
    const { track } = await trackOf(warehouse);
    const outlook = outlookOf({ orgId: 'org_1', from: parseDay('2026-07-01'), until: UNTIL }, track);
    expect(phraseText(outlook ?? [])).toBe(
      '. Whether the budgets hold is not known: the prices of the month are not in the currency of the budget.',
    );
  });

  it('a month is over once a later day is loaded, although nobody was active on its last day', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-05-01', { core: 25 });
    const idle = "UPDATE export_units SET state = 'empty', rows = 0 WHERE date IN";
    await warehouse.place.execute(`${idle} ('2026-05-31', '2026-07-10')`);
    for (const [asked, end] of [
      ['2026-05-10', '2026-05-31'],
      ['2026-07-05', '2026-07-09'],
    ] as const) {
      const filters = { orgId: 'org_1', from: parseDay(asked), until: parseDay(asked) };
      const track = await warehouse.inSnapshot(() => readTrack(pageReader(warehouse, filters)));
      expect(track.period.until).toBe(end);
    }
  });

  it('fewer than four complete months say nothing about a risk', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-03-02', { core: 25 });
    const { track, figure } = await trackOf(warehouse);
    expect(track.months).toBe(3);
    expect(rowsOf(figure).map((row) => row.at(-1))).toEqual(expect.arrayContaining(['–']));
    expect(rowsOf(figure).every((row) => row.at(-1) === '–')).toBe(true);
  });

  it('of a month of which people of some days have expired nothing is known, and each line says why', async () => {
    const warehouse = await open(database);
    await fill(warehouse, '2026-02-01', { core: 25, web: 5, idle: 10 });
    for (const change of [
      sql`UPDATE export_units SET state = 'expired', content_sha256 = NULL WHERE date < '2026-07-04'`,
      sql`DELETE FROM user_daily WHERE date < '2026-07-04'`,
    ])
      await warehouse.transact('expire', function* () {
        yield change;
      });
    await refreshRollups(warehouse, { orgId: 'org_1', now: new Date('2026-07-20T03:00:00.000Z') });
    const { track } = await trackOf(warehouse);
    expect(track.why).toBe('Rows about people before 2026-07-04 have expired.');
    const expired = [null, 'rows about people before 2026-07-04 have expired'];
    expect(track.teams.map(({ spent }) => [spent.value, spent.why])).toEqual([expired, expired, expired]);
  });
});
