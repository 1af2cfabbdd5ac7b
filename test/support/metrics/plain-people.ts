import type { Value } from '../../../schema/row.ts';
import { textOf } from './definition.ts';
import type { Facts } from './facts.ts';

/** A row of `people`. */
type Person = Facts['people'][number];

/**
 * The row of `people` that a user is on a day, found in the rows of the users: the one with the user's ID, otherwise the one
 * with the address that the user had last of those that are somebody's on this day. Null without one.
 */
export function personOf(facts: Facts, user: Value | undefined, day: string): Person | null {
  const valid = facts.people.filter((row) => isValid(row, day));
  const known = [String(user), ...addressesOf(facts, user)];
  const [first] = known.flatMap((key, index) =>
    valid
      .filter(({ person }) => (index === 0 ? person === key : String(person).toLowerCase() === key))
      .toSorted((one, other) => (String(one.person) < String(other.person) ? -1 : 1)),
  );
  return first ?? null;
}

/** The team of a user on a day; null without one. */
export function teamOf(facts: Facts, user: Value | undefined, day: string): string | null {
  return textOf(personOf(facts, user, day)?.team);
}

/** True if a row of `people` is valid on a day. */
export function isValid({ valid_from: from, valid_to: to }: Person, day: string): boolean {
  return String(from) <= day && (to === null || day <= String(to));
}

/** The addresses that a user ever had, in lower case: the one seen last first, then in alphabetical order. */
function addressesOf({ userDaily }: Facts, user: Value | undefined): string[] {
  const own = userDaily.filter((row) => row.user_id === user && row.user_email !== null);
  const lastDays = new Map<string, string>();
  for (const { user_email, date } of own) {
    const address = String(user_email).toLowerCase();
    const known = lastDays.get(address) ?? '';
    lastDays.set(address, known > String(date) ? known : String(date));
  }
  const sorted = [...lastDays].toSorted(([one, dayA], [other, dayB]) =>
    dayA === dayB ? (one < other ? -1 : 1) : dayA > dayB ? -1 : 1,
  );
  return sorted.map(([address]) => address);
}
