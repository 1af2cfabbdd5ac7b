import { expect, test } from 'vitest';
import { type Part, peopleWhoFollow } from '../../support/weeks/attack.ts';

/** People p1, p2, … with an activity that is in some published sums. */
function group(names: readonly string[], sums: readonly number[]): Part[] {
  return names.map((person) => ({ person, sums }));
}

const named = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `p${from + index}`);

/** The attacker that the published weeks withstand must find what other ways of publishing give away. */
test('a team that is hidden and not merged follows from the total', () => {
  const parts = [...group(named(1, 6), [0, 1]), ...group(named(7, 7), [0, 2]), ...group(named(14, 3), [0])];
  expect(peopleWhoFollow(parts, 3, 4)?.toSorted()).toEqual(['p14', 'p15', 'p16']);
  // Merged with another one, it does not.
  const merged = [...group(named(1, 6), [0, 1]), ...group(named(7, 10), [0, 2])];
  expect(peopleWhoFollow(merged, 3, 4)).toBeNull();
});

test('a model that is merged with one of another tier follows from its tier', () => {
  // 1 and 2 are tiers, 3 is a model of the first one, 4 the rest: two people of the first tier, and the second.
  const parts = [
    ...group(named(1, 8), [0, 1, 3]),
    ...group(named(9, 2), [0, 1, 4]),
    ...group(named(11, 6), [0, 2, 4]),
  ];
  expect(peopleWhoFollow(parts, 5, 4)?.toSorted()).toEqual(['p10', 'p9']);
});

test('a team that is hidden in one week follows from its sum over two', () => {
  // 0 and 1 are the totals of two weeks, 2 the team in the first, 3 its sum over both. In the second week it has three people.
  const first = [...group(named(1, 6), [0, 2, 3]), ...group(named(7, 9), [0])];
  const second = [...group(named(1, 3), [1, 3]), ...group(named(4, 12), [1])];
  expect(peopleWhoFollow([...first, ...second], 4, 4)?.toSorted()).toEqual(['p1', 'p2', 'p3']);
});

test('a person who is moved between two reports follows from their difference', () => {
  // 1 and 2 are the teams in the first report, 3 and 4 the same teams in the second one.
  const parts = [
    ...group(named(1, 8), [0, 1, 3]),
    ...group(named(9, 8), [0, 2, 4]),
    ...group(['moved'], [0, 1, 4]),
  ];
  expect(peopleWhoFollow(parts, 5, 4)).toEqual(['moved']);
});
