import { expect, test } from 'vitest';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { type PlainRow, plainCosts, plainDays } from '../../support/money/plain-costs.ts';
import { type CostWorld, DAYS, ORG, randomCosts, storeCosts } from '../../support/money/random-costs.ts';
import { seeded } from '../../support/random/seed.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const WORLDS = process.env['DAYWALK_FUZZ'] === undefined ? 3 : 40;
const NOW = new Date('2026-03-20T00:00:00Z');

const keyOf = ({ month, team, currency }: Pick<PlainRow, 'month' | 'team' | 'currency'>) =>
  `${month} ${team} ${currency}`;

function expectNear(found: number | null, expected: number | null, what: string) {
  if (found === null || expected === null) return expect(found, what).toBe(expected);
  expect(Math.abs(found - expected), what).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
}

async function expectViewsOf(warehouse: Held, world: CostWorld) {
  const expected = new Map(plainCosts(world).map((row) => [keyOf(row), row]));
  const forecasts = await warehouse.place.query<PlainRow>('SELECT * FROM month_forecast');
  const costs = await warehouse.place.query<
    PlainRow & { billable_tokens: number | null; cost: number | null }
  >('SELECT * FROM cost_monthly_by_team');
  for (const rows of [forecasts, costs]) {
    expect(rows.map(keyOf).toSorted()).toEqual([...expected.keys()].toSorted());
  }
  for (const row of forecasts) {
    const own = expected.get(keyOf(row));
    for (const column of ['tokens_so_far', 'cost_so_far', 'cost_forecast'] as const) {
      expectNear(row[column], own?.[column] ?? null, `${column} of ${keyOf(row)}`);
    }
  }
  for (const row of costs) {
    const own = expected.get(keyOf(row));
    expectNear(row.billable_tokens, own?.tokens_so_far ?? null, `billable_tokens of ${keyOf(row)}`);
    expectNear(row.cost, own?.cost_so_far ?? null, `cost of ${keyOf(row)}`);
  }
  const days = await warehouse.place.query<{ date: string; currency: string | null; cost: number | null }>(
    `SELECT date, currency, cost FROM cost_daily WHERE date >= '${DAYS[0]}' ORDER BY date`,
  );
  const plain = plainDays(world).slice(0, days.length);
  expect(days.map(({ date, currency }) => `${date} ${currency}`)).toEqual(
    plain.map(({ date, currency }) => `${date} ${currency}`),
  );
  for (const [index, { date, cost }] of days.entries()) expectNear(cost, plain[index]?.cost ?? null, date);
}

/** The metric refuses a sum over currencies, so it is compared where there is one. */
async function expectMetricOf(warehouse: Held, world: CostWorld) {
  if (new Set(world.prices.map(({ currency }) => currency)).size > 1) return;
  const question = { metric: 'cost', orgId: ORG, from: DAYS[0], until: DAYS.at(-1) };
  const monthly = await answerMetric(warehouse, { ...question, by: ['month', 'team'] });
  const rows = new Map(plainCosts(world).map((row) => [`${row.month} ${row.team}`, row.cost_so_far]));
  for (const { month, team, value } of monthly.rows) {
    const key = `${month} ${team ?? 'unassigned'}`;
    expect([...rows.keys()]).toContain(key);
    expectNear(value, rows.get(key) ?? null, key);
  }
}

onEachDatabase((database) => {
  test('the costs and forecasts of teams equal a plain computation, whether or not rollups are current', async () => {
    const random = seeded(`costs on ${database.name}`);
    const warehouse = await open(database);
    for (let round = 0; round < WORLDS; round += 1) {
      const world = randomCosts(random);
      await storeCosts(warehouse.place, world);
      await refreshRollups(warehouse, { orgId: ORG, now: NOW });
      await expectViewsOf(warehouse, world);
      await expectMetricOf(warehouse, world);
      // A day is restated after the rollups were computed.
      const [first, ...others] = world.uses;
      if (first === undefined) continue;
      const restated = { ...world, uses: [{ ...first, tokens: 12_345_678 }, ...others] };
      await warehouse.place.execute(
        `UPDATE user_daily SET billable_tokens = 12345678 WHERE user_id = '${first.user}' AND date = '${first.day}'`,
      );
      await warehouse.place.execute(
        `UPDATE export_units SET content_sha256 = 'other' WHERE date = '${first.day}'`,
      );
      await expectViewsOf(warehouse, restated);
    }
  }, 300_000);
});
