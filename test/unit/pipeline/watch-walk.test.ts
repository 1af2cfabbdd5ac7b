import { expect, test } from 'vitest';
import { FIRST_DAY, shiftDay } from '../../../src/core/day.ts';
import { walkedRanges } from '../../../src/pipeline/run/watch-walk.ts';

const day = (number: number) => shiftDay(FIRST_DAY, number);

/** The first and the last day of each range, as numbers. */
const ranges = (days: readonly number[], daysMax: number) =>
  walkedRanges(days.map(day), daysMax).map(({ days: [first, ...others] }) => {
    const numberOf = (date: string) => days.find((number) => day(number) === date);
    return [numberOf(first), numberOf(others.at(-1) ?? first)];
  });

test('a walk covers its days with few ranges, and the days between them', () => {
  expect(ranges([], 31)).toEqual([]);
  expect(ranges([4], 31)).toEqual([[4, 4]]);
  expect(ranges([0, 1, 3, 9], 31)).toEqual([[0, 9]]);
  expect(ranges([3, 0, 1, 9], 4)).toEqual([
    [0, 3],
    [9, 9],
  ]);
});
