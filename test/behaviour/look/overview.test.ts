import { expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { readCauses } from '../../../src/comparison/index.ts';
import { parseDay } from '../../../src/core/day.ts';
import { overview } from '../../../src/look/pages/overview.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { figureOf, figuresOf, phraseText, rowsOf } from '../../support/look/read-pages.ts';
import { fillTwoMonths, load, pageOf, type TwoMonths } from '../../support/look/two-months.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  const worldOf = async (world: TwoMonths = {}) => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse, world);
    return warehouse;
  };

  it('the sentence compares the days of a month with the same days of the month before', async () => {
    const warehouse = await worldOf({ unsettled: ['2026-03-18', '2026-03-19'], doubted: ['2026-03-10'] });
    const { sentence } = await pageOf(warehouse, overview);
    expect(phraseText(sentence)).toMatch(
      /^38,000 credits, 100\s% more than on the same weekdays four weeks before, by 2 people: more active people \(\+19,000\)\. What they cost is not known: `daywalk prices load prices.csv`\. 2 of 19 days are not settled, 1 is doubted \(15\.8\s% of the credits may still change\): what that means\.$/,
    );
  });

  it('the sentence about a first month, one day and days without data says what there is', async () => {
    const warehouse = await worldOf();
    const about = async (from: string, until: string) =>
      phraseText((await pageOf(warehouse, overview, { from, until })).sentence);
    expect(await about('2026-02-01', '2026-02-28')).toBe(
      '28,000 credits, by 1 person. What they cost is not known: `daywalk prices load prices.csv`. All 28 days are settled.',
    );
    expect(await about('2026-03-05', '2026-03-05')).toBe(
      '2,000 credits, 100\u202f% more than on 26 February, by 2 people: more active people (+1,000). What they cost is not known: `daywalk prices load prices.csv`. The day is settled. Compared with 26 February. Compare with 4 March instead.',
    );
    expect(await about('2026-03-20', '2026-03-25')).toBe(
      'Nothing is stored of 20 to 25 March. 6 of 6 days are missing: what that means.',
    );
  });

  it('no span with a hole is compared', async () => {
    const warehouse = await worldOf({ missing: ['2026-02-05'] });
    const page = await pageOf(warehouse, overview);
    expect(phraseText(page.sentence)).toBe(
      '38,000 credits (1 day is missing, so the spans cannot be compared: the same days of February), by 2 people. ' +
        'What they cost is not known: `daywalk prices load prices.csv`. All 19 days are settled.',
    );
    const [headlines] = page.sections;
    if (headlines?.kind !== 'headlines') throw new Error('the page does not begin with headlines');
    expect(headlines.headlines.map(({ change }) => change.value)).toEqual([null, null, null, null]);
  });

  it('the headlines are the numbers of the metrics', async () => {
    const warehouse = await worldOf();
    const [headlines] = (await pageOf(warehouse, overview)).sections;
    if (headlines?.kind !== 'headlines') throw new Error('the page does not begin with headlines');
    const metrics = ['billable_tokens', 'active_users'];
    for (const [index, metric] of metrics.entries()) {
      const period = { from: parseDay('2026-03-01'), until: parseDay('2026-03-19') };
      const { rows } = await answerMetric(warehouse, { metric, orgId: 'org_1', by: [], ...period });
      expect(headlines.headlines[index]?.number.value, metric).toBe(rows[0]?.value);
    }
  });

  it('money comes first once prices are loaded, and the last row of who and what is the spend', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const page = await pageOf(warehouse, overview);
    expect(phraseText(page.sentence)).toMatch(
      /^3,800\sEUR so far and about 5,971 by the end of March; there is no budget/,
    );
    expect(phraseText(page.sentence)).toContain('`daywalk budget load budgets.csv`');
    const [headlines] = page.sections;
    if (headlines?.kind !== 'headlines') throw new Error('the page does not begin with headlines');
    expect(headlines.headlines.map(({ title }) => title)).toEqual([
      'Spend',
      'Active people',
      'Credits per person',
      'Readiness',
    ]);
    expect(headlines.headlines[2]?.number.value).toBe(19_000);
    for (const id of ['teams', 'models']) expect(rowsOf(figureOf(page, id)).at(-1)?.[1]).toBe('3,800');
    expect(rowsOf(figureOf(page, 'models')).map(([name]) => name)).toEqual([
      'atlas',
      'without a model',
      'All models',
    ]);
  });

  it('the causes lead from the spend before to the spend, and are those of the command', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const figure = figureOf(await pageOf(warehouse, overview), 'causes');
    const period = { from: parseDay('2026-03-01'), until: parseDay('2026-03-19') };
    const { rows, value, before } = await readCauses(warehouse, { orgId: 'org_1', ...period });
    const values = figure.table.rows.map((cells) => {
      const [, , cell] = cells;
      return cell?.kind === 'number' ? cell.value : undefined;
    });
    expect(values.at(0)).toBe(before);
    expect(values.at(-1)).toBe(value);
    const causes = rows.filter((row) => row.cause !== 'rows without a model');
    expect(values.slice(1, -1)).toEqual(causes.map((row) => row.value));
    expect(values.slice(1, -1).reduce<number>((sum, own) => sum + (own ?? 0), 0)).toBeCloseTo(1_900, 6);
    const hole = await worldOf({ missing: ['2026-02-05'] });
    expect(figureOf(await pageOf(hole, overview), 'causes').empty).toMatch(/^1 day is missing/);
  });

  it('events and changes of the price are marked in the chart and written in its table', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', valid_to: '2026-02-28', currency: 'EUR', price_per_million: 1e5 },
      { valid_from: '2026-03-01', currency: 'EUR', price_per_million: 2e5 },
    ]);
    await load(warehouse, tables.events, [
      { date: '2026-03-04', team: '', text: 'Release <script>', closed: 0 },
      { date: '2026-03-05', team: 'core', text: 'of a team', closed: 0 },
    ]);
    const figure = figureOf(await pageOf(warehouse, overview), 'cost-per-day');
    expect(figure.chart?.svg).toContain('Release &lt;script&gt;');
    expect(figure.chart?.svg).toContain('price 200000.00 EUR');
    const happened = rowsOf(figure).map((row) => [row[0], row.at(-1)]);
    expect(happened.filter(([, text]) => text !== '–')).toEqual([
      ['2026-03-04', 'Release <script>'],
      ['2026-03-01', 'price 200000.00 EUR'],
    ]);
  });

  it('teams are listed by size', async () => {
    const warehouse = await worldOf();
    const without = figureOf(await pageOf(warehouse, overview), 'teams');
    expect(without.empty).toContain('daywalk people load people.csv');
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    const rows = rowsOf(figureOf(await pageOf(warehouse, overview), 'teams'));
    expect(rows.map(([team, credits, share]) => [team, credits, share])).toEqual([
      ['core', '19,000', '50.0\u202f%'],
      ['unassigned', '19,000', '50.0\u202f%'],
      ['All teams', '38,000', '100.0\u202f%'],
    ]);
  });

  it('with a team, numbers are of the team, its models too', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    const page = await pageOf(warehouse, overview, { team: 'core' });
    expect(phraseText(page.sentence)).toContain('Team core: 19,000 credits');
    expect(figuresOf(page).map(({ id }) => id)).not.toContain('teams');
    const models = figureOf(page, 'models');
    expect(models.subtitle).not.toContain('whole organization');
    expect(rowsOf(models)[0]?.slice(0, 2)).toEqual(['atlas', '19,000']);
  });
});
