import { describe, expect, test } from 'vitest';
import type { ActivePerson } from '../../../src/look/figures/active-people.ts';
import {
  peopleOrder,
  personCell,
  searchPeople,
  slicePeople,
  sortPeople,
} from '../../../src/look/figures/active-people.ts';
import { noNumber, type ShownNumber } from '../../../src/look/numbers.ts';

const numberOf = (value: number | null): ShownNumber => ({ ...noNumber('none'), value });

function personOf(
  userId: string,
  given: Partial<ActivePerson> & { credits?: number | null } = {},
): ActivePerson {
  const { credits = 0, ...fields } = given;
  const number = numberOf(0);
  return {
    userId,
    email: null,
    name: null,
    team: null,
    lastActiveOn: '2026-01-20',
    activeDays: number,
    numbers: { credits: numberOf(credits), sessions: number, commits: number },
    ...fields,
  };
}

const idsOf = (people: readonly ActivePerson[]) => people.map(({ userId }) => userId);

describe('a search for people', () => {
  const people = [
    personOf('user_1', { email: '50%@example.com' }),
    personOf('user-2', { name: 'Zoë "O\'Neil"' }),
    personOf('USER3', { team: 'Core_web' }),
    personOf('<script>', { team: 'core' }),
  ];

  test.each([
    ['%', ['user_1']],
    ['_', ['user_1', 'USER3']],
    ["o'neil", ['user-2']],
    ['"', ['user-2']],
    ['zoe\u0308', ['user-2']],
    ['CORE', ['USER3', '<script>']],
    ['<SCRIPT', ['<script>']],
    ['  ', ['user_1', 'user-2', 'USER3', '<script>']],
    ['nobody', []],
  ])('takes %j literally, in any case', (text, expected) => {
    expect(idsOf(searchPeople(people, text))).toEqual(expected);
  });
});

describe('the order of people', () => {
  const people = [
    personOf('b', { credits: 2, team: 'x' }),
    personOf('c', { credits: null, team: null }),
    personOf('a', { credits: 10, team: 'X' }),
    personOf('d', { credits: 2, team: 'a' }),
  ];

  test('goes both ways, and who has no value comes last in both', () => {
    const sorted = (by: 'credits' | 'team', descending: boolean) =>
      idsOf(sortPeople(people, { by, descending })).join('');
    expect(sorted('credits', true)).toBe('abdc');
    expect(sorted('credits', false)).toBe('bdac');
    expect(sorted('team', false)).toBe('dabc');
    expect(sorted('team', true)).toBe('abdc');
  });

  test('is that of credits without a column, and none is of a column that does not exist', () => {
    const most = { by: 'credits', descending: true };
    expect(peopleOrder(undefined)).toEqual(most);
    expect(() => peopleOrder({ by: 'constructor', descending: false })).toThrow('not sorted by');
    expect(peopleOrder({ by: 'team', descending: false })).toEqual({ by: 'team', descending: false });
  });
});

test('a page outside a list of people is the nearest page of it', () => {
  const people = Array.from({ length: 201 }, (_, index) => personOf(`user_${index}`));
  const at = (page: number) => {
    const slice = slicePeople(people, page, 100);
    return [slice.page, slice.pages, slice.people.length];
  };
  expect(at(1)).toEqual([1, 3, 100]);
  expect(at(3)).toEqual([3, 3, 1]);
  expect(at(4)).toEqual([3, 3, 1]);
  for (const page of [0, -1, Number.NaN]) expect(at(page)).toEqual([1, 3, 100]);
  expect(slicePeople([], 1, 100)).toEqual({ people: [], page: 1, pages: 1 });
});

test('a person without name and address is called by the end of a long ID', () => {
  const nameOf = (person: ReturnType<typeof personOf>) => personCell(person);
  const path = '/people/user_01HZZZZZZZZC4NG2N';
  expect(nameOf(personOf('user_01HZZZZZZZZC4NG2N', { email: null, name: null }))).toEqual({
    kind: 'link',
    text: '…C4NG2N',
    path,
  });
  expect(nameOf(personOf('user_01HZZZZZZZZC4NG2N', { email: null, name: 'Ada' }))).toMatchObject({
    text: 'Ada',
  });
  expect(nameOf(personOf('user_1', { email: null, name: null }))).toMatchObject({ text: 'user_1' });
});
