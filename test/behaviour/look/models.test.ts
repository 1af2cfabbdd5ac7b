import { expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { models } from '../../../src/look/pages/models.ts';
import { figureOf, phraseText, rowsOf } from '../../support/look/read-pages.ts';
import { fillTwoMonths, load, pageOf } from '../../support/look/two-months.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const EUR = { valid_from: '2026-01-14', valid_to: null, currency: 'EUR', price_per_million: 1000 };

onEachDatabase((database) => {
  const world = async () => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse);
    return warehouse;
  };

  it('without prices, the page says how to load them and shows no cost', async () => {
    const page = await pageOf(await world(), models);
    expect(phraseText(page.sentence)).toContain('What they cost is not known. No prices are loaded');
    expect(figureOf(page, 'cost-by-team').empty).toContain('daywalk prices load prices.csv');
    expect(figureOf(page, 'on-track').empty).toContain('daywalk prices load prices.csv');
  });

  it('costs are shown by team and month, and against the budget', async () => {
    const warehouse = await world();
    await load(warehouse, tables.prices, [EUR]);
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    await load(warehouse, tables.budgets, [
      { month: '2026-03', team: 'core', amount: 20, currency: 'EUR' },
      { month: '2026-03', team: 'idle', amount: 20, currency: 'EUR' },
      { month: '2026-03', team: 'unassigned', amount: 20, currency: 'USD' },
    ]);
    const page = await pageOf(warehouse, models);
    expect(phraseText(page.sentence)).toContain('cost 38.00\u00a0EUR, 19.00\u00a0EUR per active user.');
    expect(rowsOf(figureOf(page, 'cost-by-team')).slice(0, 2)).toEqual([
      ['2026-03', '19.00', '19.00', '38.00'],
      ['2026-02', '28.00', '–', '28.00'],
    ]);
    // Until the 19th, March has 14 of its 22 weekdays: 19.00 × 22 ÷ 14.
    expect(rowsOf(figureOf(page, 'on-track')).map((row) => [row[0], row[2], row[3], row[4]])).toEqual([
      ['March', '–', '–', '–'],
      ['Quarter', '–', '–', '–'],
      ['core', '19.00', '29.86', '20.00'],
      ['idle', '0.00', '0.00', '20.00'],
      ['unassigned', '–', '–', '–'],
    ]);
  });

  it('costs in two currencies are refused by their figures, and the rest of the page stands', async () => {
    const warehouse = await world();
    await load(warehouse, tables.prices, [
      { ...EUR, valid_to: '2026-03-09' },
      { ...EUR, valid_from: '2026-03-10', currency: 'USD' },
    ]);
    const page = await pageOf(warehouse, models);
    expect(phraseText(page.sentence)).toContain('cannot be added over currencies');
    expect(figureOf(page, 'cost-by-team').empty).toContain('EUR and USD');
    expect(rowsOf(figureOf(page, 'thinking-share')).length).toBeGreaterThan(0);
  });
});
