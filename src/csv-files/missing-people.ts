import { OPEN_END } from '../../schema/row.ts';
import { isDay, shiftDay } from '../core/day.ts';
import { compareText } from '../core/json.ts';
import type { Steps } from '../port/index.ts';
import { isPseudonym } from '../privacy/index.ts';
import {
  type KnownUsers,
  type PeopleConflict,
  readKnownUsers,
  readStanding,
  resolvePeople,
} from '../rollups/index.ts';

/** A user who was last active without a team. */
export interface MissingUser {
  readonly user_id: string;
  readonly user_email: string | null;
  readonly last_active_on: string;
  /** The person of that day, who is stored without a team; null if the user is no person. */
  readonly person: string | null;
  /** The days around it on which the user is no person; null where they have no end. */
  readonly valid_from: string | null;
  readonly valid_to: string | null;
}

/** What is to be completed in the people of an organization. */
export interface MissingPeople {
  readonly org_id: string;
  /** The most recently active users first. */
  readonly users: readonly MissingUser[];
  /** Users who are several people on a day. */
  readonly conflicts: readonly PeopleConflict[];
  /** The keys of people without a user: seats without activity so far. */
  readonly people_without_user: readonly string[];
}

/** Finds what is to be completed. A user counts as missing by the last day with activity, so those who left do not return. */
export function* findMissingPeople(orgId: string): Steps<MissingPeople> {
  const standing = yield* readStanding(orgId);
  const { people } = standing;
  const known = yield* readKnownUsers(orgId, standing);
  const { periods, conflicts } = resolvePeople({ orgId, people, ...known });
  const periodsOf = Map.groupBy(periods, ({ user_id }) => user_id);
  const emailOf = latestEmails(known);
  const users = lastActiveFirst(known).flatMap(([user_id, day]): MissingUser[] => {
    if (isPseudonym(user_id)) return [];
    const own = periodsOf.get(user_id) ?? [];
    const current = own.find(({ valid_from, valid_to }) => valid_from <= day && valid_to >= day);
    if (current !== undefined && current.team !== null) return [];
    return [
      {
        user_id,
        user_email: emailOf.get(user_id) ?? null,
        last_active_on: day,
        person: current?.person ?? null,
        valid_from:
          current?.valid_from ?? shifted(1, own.findLast(({ valid_to }) => valid_to < day)?.valid_to),
        valid_to:
          current?.valid_to ?? shifted(-1, own.find(({ valid_from }) => valid_from > day)?.valid_from),
      },
    ];
  });
  const matched = new Set(periods.map(({ person }) => person));
  const all = new Set(people.map(({ person }) => person));
  return {
    org_id: orgId,
    users: users.map((user) => (user.valid_to === OPEN_END ? { ...user, valid_to: null } : user)),
    conflicts,
    people_without_user: [...all].filter((person) => !matched.has(person) && !isPseudonym(person)),
  };
}

function lastActiveFirst({ lastActiveOn }: KnownUsers): [user: string, day: string][] {
  return [...lastActiveOn].toSorted(
    ([userA, dayA], [userB, dayB]) => compareText(dayB, dayA) || compareText(userA, userB),
  );
}

/** The address of the latest day that has one, by user. */
function latestEmails({ emails }: KnownUsers): Map<string, string> {
  const sorted = emails.toSorted((a, b) => compareText(a.last_seen_on, b.last_seen_on));
  return new Map(sorted.map(({ user_id, user_email }) => [user_id, user_email]));
}

function shifted(days: number, day: string | undefined): string | null {
  return isDay(day) ? shiftDay(day, days) : null;
}
