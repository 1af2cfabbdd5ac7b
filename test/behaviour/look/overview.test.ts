import { expect, it } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { readCauses } from '../../../src/comparison/index.ts';
import { daysFrom, parseDay, shiftDay } from '../../../src/core/day.ts';
import { largestChanges } from '../../../src/look/brief/managers-parts.ts';
import { explore } from '../../../src/look/pages/explore.ts';
import { models } from '../../../src/look/pages/models.ts';
import { overview } from '../../../src/look/pages/overview.ts';
import { teams } from '../../../src/look/pages/teams.ts';
import { csvAnswer } from '../../../src/look/server/figure-csv.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { cellText, figureOf, figuresOf, phraseText, rowsOf } from '../../support/look/read-pages.ts';
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
      '38,000 credits (the same days of February: 1 day is missing, so the spans cannot be compared), by 2 people. ' +
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

  it.each([
    ['2026-02-28', 'the spans have prices in USD and EUR, so they cannot be compared'],
    [
      '2026-02-10',
      'cost cannot be added over currencies: its days have prices in EUR and USD; choose a period with prices in one currency',
    ],
  ])(
    'a span before in another currency until %s hides no cost of this one, and the sentence says why nothing is compared',
    async (valid_to, why) => {
      const warehouse = await worldOf();
      await load(warehouse, tables.prices, [
        { valid_from: '2026-01-14', valid_to, currency: 'EUR', price_per_million: 1e5 },
        { valid_from: shiftDay(parseDay(valid_to), 1), currency: 'USD', price_per_million: 1e5 },
      ]);
      const page = await pageOf(warehouse, overview);
      expect(phraseText(page.sentence)).toContain(
        `It was spent by 2 people (the same days of February: ${why}).`,
      );
      const days = rowsOf(figureOf(page, 'cost-per-day')).map(([day]) => day);
      expect([days.length, days.at(-1)]).toEqual([19, '2026-03-01']);
    },
  );

  it('credits of a day that has no models yet are not said to be without a model', async () => {
    const warehouse = await worldOf();
    await warehouse.transact('forget a day of', function* () {
      for (const table of ['export_units', 'tokens_daily_by_model'])
        yield sql`DELETE FROM ${sql.identifier(table)} WHERE date = '2026-03-10'${sql.raw(table === 'export_units' ? " AND stream = 'tokens'" : '')}`;
    });
    const rows = rowsOf(figureOf(await pageOf(warehouse, overview), 'models'));
    expect(rows.at(-2)?.[0]).toBe('without a model, or of days that are missing');
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
    expect(without.empty).toContain('load them with daywalk people load');
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    const rows = rowsOf(figureOf(await pageOf(warehouse, overview), 'teams'));
    expect(rows.map(([team, credits, share]) => [team, credits, share])).toEqual([
      ['core', '19,000', '50.0\u202f%'],
      ['unassigned', '19,000', '50.0\u202f%'],
      ['All teams', '38,000', '100.0\u202f%'],
    ]);
  });

  it('where only people without a team were active, they are shown, and a team that was idle has 0 on all pages', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    const february = { from: '2026-02-09', until: '2026-02-28' };
    const rows = rowsOf(figureOf(await pageOf(warehouse, overview, february), 'teams'));
    expect(rows.map(([team, credits]) => [team, credits])).toEqual([
      ['unassigned', '20,000'],
      ['All teams', '20,000'],
    ]);
    const compared = figureOf(await pageOf(warehouse, teams, february), 'teams');
    // Team, people, active, credits, a bar, change, cost, sessions, commits.
    expect(rowsOf(compared)).toEqual([
      ['core', '1', '0', '0', '0', '–', '0.00', '0', '0'],
      ['unassigned', '0', '1', '20,000', '20000', '–', '–', '20', '–'],
    ]);
    const question = { orgId: 'org_1', by: [], team: 'core', from: parseDay('2026-02-09') };
    for (const metric of ['active_users', 'billable_tokens', 'cost', 'git_commits'])
      expect(
        (await answerMetric(warehouse, { ...question, metric, until: parseDay('2026-02-28') })).rows,
      ).toEqual([{ value: 0 }]);
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

  it('spans with prices in two currencies are compared nowhere, and no quarter adds them', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', valid_to: '2026-02-28', currency: 'USD', price_per_million: 2e5 },
      { valid_from: '2026-03-01', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const budget = { team: 'core', amount: 10, currency: 'EUR' };
    await load(
      warehouse,
      tables.budgets,
      ['2026-01', '2026-02', '2026-03'].map((month) => ({ month, ...budget })),
    );
    const page = await pageOf(warehouse, overview);
    expect(phraseText(page.sentence)).toMatch(/^3,800\sEUR/);
    expect(phraseText(page.sentence)).toContain('the spans have prices in EUR and USD');
    const [headlines] = page.sections;
    if (headlines?.kind !== 'headlines') throw new Error('the page does not begin with headlines');
    expect(headlines.headlines[0]?.change).toMatchObject({ value: null });
    for (const id of ['teams', 'models']) {
      const changes = rowsOf(figureOf(page, id)).map((row) => row.slice(-2));
      expect(changes.flat().every((cell) => cell === '–')).toBe(true);
    }
    expect(rowsOf(figureOf(page, 'on-track')).map(([name]) => name)).toEqual([
      'March',
      'core',
      'no budget (1)',
    ]);
    const changed = await warehouse.inSnapshot(() => {
      const filters = { orgId: 'org_1', from: parseDay('2026-03-01'), until: parseDay('2026-03-19') };
      return largestChanges(pageReader(warehouse, filters), {
        ...{ by: 'team', metric: 'cost', format: 'round', changeFormat: 'moneyChange', most: 4 },
      });
    });
    expect(changed).toEqual([]);
  });

  it('a period with prices in two currencies says so, and does not ask for prices', async () => {
    const warehouse = await worldOf({ missing: ['2026-03-02'] });
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', valid_to: '2026-03-09', currency: 'USD', price_per_million: 2e5 },
      { valid_from: '2026-03-10', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const page = await pageOf(warehouse, overview);
    expect(phraseText(page.sentence)).toContain(
      'What they cost is not known: cost cannot be added over currencies: its days have prices in EUR and USD',
    );
    expect(phraseText(page.sentence)).not.toContain('daywalk prices load');
  });

  it('a span before with prices in two currencies is said to be why nothing is compared', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', valid_to: '2026-02-08', currency: 'USD', price_per_million: 2e5 },
      { valid_from: '2026-02-09', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const [row] = figureOf(await pageOf(warehouse, overview), 'teams').table.rows;
    for (const cell of row?.slice(-2) ?? [])
      expect(cell).toMatchObject({ value: null, why: expect.stringContaining('EUR and USD') });
  });

  it('what has no price is no number and not 0: a day, a team before, and all teams before', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', valid_to: '2026-02-08', currency: 'EUR', price_per_million: 1e5 },
      { valid_from: '2026-02-11', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const page = await pageOf(warehouse, overview);
    const lacking = '2 days with credits have no price, so no cost that includes them is known; load prices';
    const day = figureOf(page, 'cost-per-day').table.rows.find(
      ([cell]) => cell !== undefined && cellText(cell) === '2026-02-10',
    );
    expect(day?.[1]).toMatchObject({ value: null, why: expect.stringContaining(lacking) });
    expect(figureOf(page, 'cost-per-day').chart?.svg).not.toContain('not stored');
    expect(rowsOf(figureOf(page, 'teams')).map((row) => [row[0], row[1], ...row.slice(-2)])).toEqual([
      ['core', '1,900', '+1,900', '–'],
      ['unassigned', '1,900', '–', '–'],
      ['All teams', '3,800', '–', '–'],
    ]);
    expect(phraseText(page.sentence)).not.toContain('more active people');
    const filters = { orgId: 'org_1', from: parseDay('2026-02-05'), until: parseDay('2026-03-19') };
    const slice = { value: 'cost', by: 'team' };
    const before = await warehouse.inSnapshot(() => explore.build(pageReader(warehouse, filters), { slice }));
    const lines = String(csvAnswer(figureOf(before, 'rows'), filters).body)
      .trim()
      .split(/\r?\n/);
    expect(lines).toEqual(['Team,Cost,Share,Change,in %', 'core,1900,,,', 'unassigned,,,,', 'All teams,,,,']);
    const stacked = figureOf(await pageOf(warehouse, models), 'cost-by-team');
    const february = stacked.table.rows.find(([cell]) => cell !== undefined && cellText(cell) === '2026-02');
    const [, ...numbers] = february ?? [];
    expect(numbers).toHaveLength(3);
    for (const number of numbers)
      expect(number).toMatchObject({ value: null, why: expect.stringContaining(lacking) });
  });

  it('who was there before and is not any more has a row, so that the changes add up', async () => {
    const warehouse = await worldOf();
    await load(warehouse, tables.people, [
      { person: 'ada', valid_from: '2026-01-01', valid_to: '2026-02-28', team: 'core' },
      { person: 'ada', valid_from: '2026-03-01', team: 'web' },
    ]);
    const figure = figureOf(await pageOf(warehouse, overview), 'teams');
    const bars = figure.table.rows.map((row) => row.find(({ kind }) => kind === 'delta'));
    const max = 19_000;
    expect(bars).toMatchObject([
      { value: max, max },
      { value: max, max },
      { value: -max, max },
      { value: null },
    ]);
    const rows = rowsOf(figure);
    expect(rows.map((row) => [row[0], row[1], row[4]])).toEqual([
      ['unassigned', '19,000', '+19,000'],
      ['web', '19,000', '+19,000'],
      ['not any more (1)', '0', '\u221219,000'],
      ['All teams', '38,000', '+19,000'],
    ]);
  });

  it('a week in which nobody was active cost 0, and no group without a name has it', async () => {
    const idle = daysFrom(parseDay('2026-03-09'), parseDay('2026-03-15'));
    const warehouse = await worldOf({ idle });
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const week = { from: '2026-03-09', until: '2026-03-15' };
    const page = await pageOf(warehouse, overview, week);
    const [headlines] = page.sections;
    if (headlines?.kind !== 'headlines') throw new Error('the page does not begin with headlines');
    expect(headlines.headlines[0]).toMatchObject({ title: 'Spend', number: { value: 0 }, unit: 'EUR' });
    expect(figureOf(page, 'teams').empty).toBe('Nothing occurred in this period.');
    const { columns, rows } = figureOf(await pageOf(warehouse, models, week), 'credits-by-model').table;
    expect(columns.map(({ title }) => title)).toEqual(['Week from', 'atlas', 'Together']);
    expect(rows[0]?.map(cellText)).toEqual(['2026-03-09', '0', '0']);
  });

  it('a team of which the service sends no credits hides neither the spend nor its change', async () => {
    const warehouse = await worldOf({ silent: ['bob'] });
    await load(warehouse, tables.people, [
      { person: 'bob', valid_from: '2026-01-01', team: 'core' },
      { person: 'ada', valid_from: '2026-01-01', team: 'web' },
    ]);
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', currency: 'EUR', price_per_million: 1e5 },
    ]);
    const page = await pageOf(warehouse, overview);
    expect(phraseText(page.sentence)).toMatch(/^1,900\sEUR/);
    expect(rowsOf(figureOf(page, 'teams')).map((row) => [row[0], row[1], row[4]])).toEqual([
      ['web', '1,900', '0.00'],
      ['core', '–', '–'],
      ['All teams', '1,900', '0.00'],
    ]);
    expect(phraseText((await pageOf(warehouse, teams)).sentence)).toContain(
      'web, with 19,000, 100.0\u202f% of',
    );
  });

  it('a cost without a currency is no number, also where nobody has used anything', async () => {
    const idle = daysFrom(parseDay('2026-03-09'), parseDay('2026-03-15'));
    const warehouse = await worldOf({ idle });
    const week = { from: '2026-03-09', until: '2026-03-15' };
    const [headlines] = (await pageOf(warehouse, overview, week)).sections;
    if (headlines?.kind !== 'headlines') throw new Error('the page does not begin with headlines');
    expect(headlines.headlines[0]).toMatchObject({ title: 'Credits', number: { value: 0 } });
    const filters = { orgId: 'org_1', from: parseDay(week.from), until: parseDay(week.until) };
    const page = await warehouse.inSnapshot(() =>
      explore.build(pageReader(warehouse, filters), { slice: { value: 'cost' } }),
    );
    expect(phraseText(page.sentence)).toBe('No price is loaded for this period.');
  });
});
