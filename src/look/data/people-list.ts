import type { ActivePerson } from './active-people.ts';

/** An order of people. */
export interface PeopleOrder {
  readonly by: PeopleSort;
  readonly descending: boolean;
}

/** What people can be sorted by. */
export const PEOPLE_SORTS = [
  'person',
  'email',
  'id',
  'team',
  'credits',
  'sessions',
  'commits',
  'days',
  'last',
] as const;
export type PeopleSort = (typeof PEOPLE_SORTS)[number];

/** Most credits first. */
const DEFAULT_ORDER: PeopleOrder = { by: 'credits', descending: true };

/** A part of a list of people. */
export interface PeopleSlice {
  readonly people: readonly ActivePerson[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** The order that a URL asks for; the default if it names no column. */
export function peopleOrder(
  sort: { readonly by: string; readonly descending: boolean } | undefined,
): PeopleOrder {
  const by = PEOPLE_SORTS.find((name) => name === sort?.by);
  return by === undefined || sort === undefined ? DEFAULT_ORDER : { by, descending: sort.descending };
}

/** The people whose ID, email address, name or team holds a text, in any case. Everybody if the text is blank. */
export function searchPeople(people: readonly ActivePerson[], text: string): readonly ActivePerson[] {
  const wanted = folded(text.trim());
  if (wanted === '') return people;
  return people.filter(({ userId, email, name, team }) =>
    [userId, email, name, team].some((field) => field !== null && folded(field).includes(wanted)),
  );
}

/** People in an order. Those without a value come last, and people with the same value in the order of their IDs. */
export function sortPeople(
  people: readonly ActivePerson[],
  { by, descending }: PeopleOrder,
): readonly ActivePerson[] {
  const keyed = people.map((person) => ({ person, key: keyOf(person, by) }));
  const sorted = keyed.toSorted((a, b) => {
    if (a.key === null || b.key === null) {
      return Number(a.key === null) - Number(b.key === null) || compare(a.person.userId, b.person.userId);
    }
    const order = compare(a.key, b.key);
    return (descending ? -order : order) || compare(a.person.userId, b.person.userId);
  });
  return sorted.map(({ person }) => person);
}

/** One page of a list. A page outside the list becomes the nearest one inside. */
export function slicePeople(people: readonly ActivePerson[], page: number, size: number): PeopleSlice {
  const pages = Math.max(1, Math.ceil(people.length / size));
  const nearest = Math.min(Math.max(1, Math.trunc(page) || 1), pages);
  return { people: people.slice((nearest - 1) * size, nearest * size), page: nearest, pages };
}

/** What a person is called: by name, otherwise by email address, otherwise by ID. */
export function personName({ name, email, userId }: Pick<ActivePerson, 'name' | 'email' | 'userId'>): string {
  return name ?? email ?? userId;
}

function keyOf(person: ActivePerson, by: PeopleSort): string | number | null {
  switch (by) {
    case 'person':
      return folded(personName(person));
    case 'email':
      return person.email === null ? null : folded(person.email);
    case 'id':
      return person.userId;
    case 'team':
      return person.team === null ? null : folded(person.team);
    case 'days':
      return person.activeDays.value;
    case 'last':
      return person.lastActiveOn;
    default:
      return person.numbers[by].value;
  }
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
