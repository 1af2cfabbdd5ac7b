import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { largeEnough, nearestWeeks, type PublishedNumber } from '../../../src/weeks/published.ts';

const WEEK = '2026-01-19';

const blocks = (dimension: string, sizes: Readonly<Record<string, number>>): PublishedNumber[] =>
  Object.entries(sizes).map(([block, people]) => ({
    week_start: WEEK,
    dimension,
    block,
    metric: 'sessions',
    people,
    value: 1,
  }));

const shownOf = (rows: readonly PublishedNumber[], minGroup: number) =>
  rows.filter(largeEnough(rows, minGroup)).map(({ block }) => block);

test('a higher limit leaves out smaller blocks, and the next one, because they follow from the total', () => {
  const teams = blocks('team', { core: 30, web: 14, data: 12, ops: 7 });
  expect(shownOf(teams, 5)).toEqual(['core', 'web', 'data', 'ops']);
  expect(shownOf(teams, 10)).toEqual(['core', 'web']);
});

test('a higher limit leaves out all models of a week, because they follow from the tiers too', () => {
  expect(shownOf(blocks('model', { large: 30, mini: 7 }), 10)).toEqual([]);
  expect(shownOf(blocks('total', { '': 7 }), 10)).toEqual([]);
});

test('the nearest whole weeks contain the days, from the first week of the service on', () => {
  const nearest = (from: string, until: string) =>
    nearestWeeks({ from: parseDay(from), until: parseDay(until) });
  expect(nearest('2026-10-01', '2026-10-31')).toEqual({ from: '2026-09-28', until: '2026-11-01' });
  expect(nearest('2026-01-19', '2026-01-25')).toEqual({ from: '2026-01-19', until: '2026-01-25' });
  expect(nearest('2026-01-14', '2026-01-16')).toEqual({ from: '2026-01-19', until: '2026-01-25' });
});
