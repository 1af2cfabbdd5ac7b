import { expect, test } from 'vitest';
import { parseMonth } from '../../../src/core/day.ts';
import { checkBudgets } from '../../../src/csv-files/budget-check.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { focusWorld } from '../../support/focus/focus-world.ts';
import { DAYS, ORG, randomCosts, storeCosts } from '../../support/money/random-costs.ts';
import { pick, type Random, seeded } from '../../support/random/seed.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const WORLDS = process.env['DAYWALK_FUZZ'] === undefined ? 4 : 40;
const NOW = new Date('2026-03-20T00:00:00Z');
const MONTHS = ['2026-01', '2026-02', '2026-03', '2026-04', '2029-01'];

interface Outlook {
  readonly month: string;
  readonly team: string;
  readonly cost_so_far: number | null;
  readonly cost_forecast: number | null;
  readonly status: string;
}

async function storeBudgets(warehouse: Held, random: Random): Promise<void> {
  await warehouse.place.execute('DELETE FROM budgets');
  for (const month of MONTHS) {
    for (const team of ['core', 'idle', 'unassigned', 'web']) {
      const currency = pick(random, ['EUR', 'EUR', 'EUR', 'USD']);
      const amount = Math.ceil(random() * 400);
      await warehouse.place.execute(
        'INSERT INTO budgets VALUES (?, ?, ?, ?, ?)',
        ORG,
        month,
        team,
        amount,
        currency,
      );
    }
  }
}

/** What `daywalk budget check` says of every budget, and what the view does. */
async function bothOf(warehouse: Held) {
  const view = await warehouse.place.query<Outlook>('SELECT * FROM budget_outlook ORDER BY month, team');
  const checked: Outlook[] = [];
  for (const month of MONTHS) {
    const { teams } = await warehouse.inSnapshot(() => checkBudgets(warehouse, ORG, parseMonth(month)));
    checked.push(
      ...teams.map(({ team, cost_so_far, cost_forecast, status }) => ({
        month,
        team,
        cost_so_far,
        cost_forecast,
        status,
      })),
    );
  }
  const rounded = (value: number | null) => (value === null ? null : Number(value.toPrecision(9)));
  const textOf = ({ month, team, cost_so_far, cost_forecast, status }: Outlook) =>
    [month, team, rounded(cost_so_far), rounded(cost_forecast), status].join(' ');
  return {
    view: view.map(textOf),
    checked: checked.map(textOf),
    states: new Set(checked.map(({ status }) => status)),
  };
}

onEachDatabase((database) => {
  test('budget_outlook says what daywalk budget check says', async () => {
    const random = seeded(`outlook on ${database.name}`);
    const warehouse = await open(database);
    const seen = new Set<string>();
    for (let round = 0; round < WORLDS; round += 1) {
      await storeCosts(warehouse.place, randomCosts(random));
      await refreshRollups(warehouse, { orgId: ORG, now: NOW });
      await storeBudgets(warehouse, random);
      const { view, checked, states } = await bothOf(warehouse);
      expect(view, `round ${round}`).toEqual(checked);
      for (const state of states) seen.add(state);
    }
    expect(seen.size).toBeGreaterThan(4);
    // Days whose people have expired: nothing is known of the month.
    await warehouse.place.execute(
      `UPDATE export_units SET state = 'expired' WHERE stream = 'users' AND date < '${DAYS[9]}'`,
    );
    const { view, checked } = await bothOf(warehouse);
    expect(view).toEqual(checked);
  }, 300_000);

  test('usage_by_user_model has the team, the price and the cost of each day', async () => {
    const world = await focusWorld(database);
    await world.day('2026-02-01', { 'ada/atlas': 2_000_000, 'bob/nova': 0 });
    await world.day('2026-02-02', { 'ada/atlas': 1_000_000, 'bob/nova': 4_000_000 });
    await world.teams(['ada', '2026-02-02', '9999-12-31', 'core', 'c-1']);
    await world.prices(['2026-02-02', null, 'EUR', 2.5]);
    const rows = await world.query(
      'SELECT date, user_id, model_id, team, cost_center, currency, billable_tokens, cost FROM usage_by_user_model ORDER BY 1, 2',
    );
    expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
      '2026-02-01 ada atlas unassigned   2000000 ',
      '2026-02-01 bob nova unassigned   0 0',
      '2026-02-02 ada atlas core c-1 EUR 1000000 2.5',
      '2026-02-02 bob nova unassigned  EUR 4000000 10',
    ]);
    const focused = await world.issue('f.csv', { month: '2026-02' }).catch((error: Error) => error.message);
    expect(focused).toContain('no price is loaded for 2026-02-01');
  });

  test('cohorts_monthly follows who was active first in a month, and has no rows once a day has expired', async () => {
    const world = await focusWorld(database);
    await world.active('2026-01-20', ['ada', 'bob']);
    await world.active('2026-02-10', ['ada', 'cleo']);
    await world.active('2026-02-11', ['ada', 'dan']);
    await world.active('2026-03-02', ['ada', 'bob', 'dan']);
    await world.refresh();
    const cohorts = () =>
      world.query('SELECT cohort, month, people, size FROM cohorts_monthly ORDER BY cohort, month');
    expect((await cohorts()).map((row) => Object.values(row).join(' '))).toEqual([
      '2026-01 2026-01 2 2',
      '2026-01 2026-02 1 2',
      '2026-01 2026-03 2 2',
      '2026-02 2026-02 2 2',
      '2026-02 2026-03 1 2',
    ]);
    await world.execute(
      "UPDATE export_units SET state = 'expired' WHERE stream = 'users' AND date = '2026-01-20'",
    );
    expect(await cohorts()).toEqual([]);
  });
});
