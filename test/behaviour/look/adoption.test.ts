import { expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { adoption } from '../../../src/look/pages/adoption.ts';
import { figureOf, phraseText, rowsOf } from '../../support/look/read-pages.ts';
import { fillTwoMonths, load, pageOf } from '../../support/look/two-months.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  it('people of a week are returning, new or inactive, once people are loaded', async () => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse);
    const before = figureOf(await pageOf(warehouse, adoption), 'people-per-week');
    expect(before.table.columns.map(({ title }) => title)).toEqual([
      'Week from',
      'Active',
      'Returning',
      'New',
    ]);
    expect(before.notes?.map(phraseText).join(' ')).toContain('daywalk people load people.csv');
    // Bob's first day is Sunday, 1 March.
    expect(rowsOf(before).slice(0, 3)).toEqual([
      ['2026-03-09', '2', '2', '0'],
      ['2026-03-02', '2', '2', '0'],
      ['2026-02-23', '2', '1', '1'],
    ]);
    await load(warehouse, tables.people, [
      { person: 'ada', valid_from: '2026-01-01', team: 'core' },
      { person: 'eve', valid_from: '2026-01-01', team: 'core' },
    ]);
    const page = await pageOf(warehouse, adoption);
    expect(rowsOf(figureOf(page, 'people-per-week'))[0]).toEqual(['2026-03-09', '2', '2', '0', '1']);
    expect(phraseText(page.sentence)).toMatch(
      /^2 people were active, 100\s% more than on the same weekdays four weeks before, 1 of them for the first time\. 1 of 2 licensed people was not active\./,
    );
  });

  it('with a team, people and ratios are of the team, and a stream that is not stored says so', async () => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse);
    await load(warehouse, tables.people, [{ person: 'bob', valid_from: '2026-01-01', team: 'core' }]);
    const page = await pageOf(warehouse, adoption, { team: 'core' });
    expect(phraseText(page.sentence)).toContain('Team core: 1 person was active');
    expect(rowsOf(figureOf(page, 'sessions-per-user'))[0]).toEqual(['2026-03-09', '7.00']);
    expect(figureOf(page, 'published-users').empty).toBe('No day of this period is stored.');
  });
});
