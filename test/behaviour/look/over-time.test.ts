import { expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { type OverTime, overTime } from '../../../src/look/figures/over-time.ts';
import type { Figure } from '../../../src/look/page.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { reading } from '../../support/look/read-pages.ts';
import { fillTwoMonths, load } from '../../support/look/two-months.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const PRICE = { valid_from: '2026-01-14', valid_to: null, currency: 'EUR', price_per_million: 1000 };
const NAME = { id: 'figure', title: 'Figure', unit: 'Unit', format: 'count' } as const;
const cost = { metrics: [{ metric: 'cost', name: 'cost' }] } as const;

function figureOf(warehouse: Warehouse, spec: OverTime): Promise<Figure> {
  return reading(warehouse, (reader) => overTime(reader, spec), { until: '2026-03-19' });
}

onEachDatabase((database) => {
  const world = async () => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse);
    return warehouse;
  };

  it('a refused metric is the sentence of every kind of figure, and fails no page', async () => {
    const warehouse = await world();
    await load(warehouse, tables.prices, [
      { ...PRICE, valid_to: '2026-03-09' },
      { ...PRICE, valid_from: '2026-03-10', currency: 'USD' },
    ]);
    const specs: OverTime[] = [
      { ...NAME, draw: 'bars', grain: 'date', days: 28, ...cost },
      { ...NAME, draw: 'bars', grain: 'week', ...cost },
      { ...NAME, draw: 'bars', grain: 'week', metric: 'cost', by: 'team' },
      { ...NAME, draw: 'lines', grain: 'month', months: 2, ...cost },
      { ...NAME, draw: 'lines', grain: 'week', metric: 'cost', by: 'team' },
    ];
    for (const spec of specs) expect((await figureOf(warehouse, spec)).empty).toContain('EUR and USD');
  });

  it('people without a group have the name that they have on other pages', async () => {
    const warehouse = await world();
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    const spec = { ...NAME, draw: 'lines', grain: 'week', metric: 'active_users', by: 'team' } as const;
    const { table } = await figureOf(warehouse, spec);
    expect(table.columns.map(({ title }) => title).toSorted()).toEqual(['Week from', 'core', 'unassigned']);
  });
});
