import { expect, test } from 'vitest';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { streamSquares } from '../../../src/look/pages/overview.ts';
import { everyState } from '../../support/look/every-state.ts';
import { reading, rowsOf } from '../../support/look/read-pages.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const SPAN = { from: FIRST_DAY, until: parseDay('2026-01-23') };

onEachDatabase((database) => {
  test('the calendar of an overview has a square for each stream and day, in every state', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await everyState(database);
    const figure = await reading(await open(rig.place), (reader) => streamSquares(reader, SPAN));
    const titles = figure.table.columns.map(({ title }) => title);
    expect(titles.toSorted()).toEqual(['Day', 'activity', 'productivity', 'tokens', 'tools', 'users']);
    const activity = titles.indexOf('activity');
    expect(rowsOf(figure).map((row) => [row[0], row[activity]])).toEqual([
      ['2026-01-23', 'not settled yet'],
      ['2026-01-22', 'awaiting data'],
      ['2026-01-21', 'failed'],
      ['2026-01-20', 'doubted'],
      ['2026-01-19', 'loaded'],
      ['2026-01-18', 'empty, settled'],
      ['2026-01-17', 'empty, settled'],
      ['2026-01-16', 'loaded'],
      ['2026-01-15', 'never pulled'],
      ['2026-01-14', 'loaded'],
    ]);
    const squares = figure.chart?.svg.match(/<use href="#mark-/g) ?? [];
    expect(squares.length).toBe(5 * 10);
    for (const state of ['empty', 'open', 'doubted', 'failed', 'pending'] as const) {
      expect(figure.legend).toContain(state);
      expect(figure.chart?.svg).toContain(`#mark-${state}"`);
    }
  });
});

test('the squares of a long period are those of its newest days', async () => {
  const until = parseDay('2026-12-31');
  const figure = await reading(await open(sqlite), (reader) =>
    streamSquares(reader, { from: FIRST_DAY, until }),
  );
  expect(figure.table.rows.length).toBe(184);
  expect(figure.legend).toEqual(['pending']);
});
