import { expect, test } from 'vitest';
import { FIRST_DAY, shiftDay } from '../../../src/core/day.ts';
import { walkedRanges, walkUsers } from '../../../src/pipeline/run/watch-walk.ts';

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

test('a walk over more days than a number has bits finds every stored user', async () => {
  const days = Array.from({ length: 40 }, (_, number) => day(number));
  const data = days.map((date) => ({ user_id: 'ada', date }));
  const [start_date, end_date] = [days[0], days.at(-1)];
  const body = { data, meta: { org_id: 'org', start_date, end_date, has_more: false } };
  const answer = { status: 200, text: JSON.stringify(body), body, requestId: undefined };
  const stored = [days.map((date) => ({ org_id: 'org', date, user_id: 'ada' })), []];
  const differing: unknown[] = [];
  await walkUsers(
    {
      source: { transport: { get: async () => answer }, hosts: {} },
      warehouse: { select: async () => stored.shift(), rowsOf: async () => [['ada']] },
      watch: { walked: [days], suspect: (found: unknown) => differing.push(found) },
      ...{ orgId: 'org', signal: new AbortController().signal },
      // Only what a walk uses.
    } as unknown as Parameters<typeof walkUsers>[0],
    days.length,
  );
  expect(differing).toEqual([[]]);
});
