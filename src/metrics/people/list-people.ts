import { groupBy } from '../../core/group-by.ts';
import type { Steps } from '../../warehouse/port.ts';
import { readKnownUsers } from '../../warehouse/rollups/known-users.ts';
import type { PersonRow } from '../../warehouse/rollups/people-digest.ts';
import { resolvePeople } from '../../warehouse/rollups/resolve-people.ts';
import { readStanding } from '../../warehouse/rollups/standing.ts';
import type { WrittenPerson } from './people-file.ts';
import { keyColumnOf } from './person-key.ts';

/** A person and period. */
export interface ListedPerson extends Omit<PersonRow, 'org_id'> {
  /** The column of a file in which the person is loaded again. */
  readonly key_column: 'user_id' | 'user_email';
  /** How many users with activity so far are this person on some day. */
  readonly users: number;
}

/** The people of an organization. */
export interface PeopleList {
  readonly org_id: string;
  readonly people: readonly ListedPerson[];
}

/** Lists the people of an organization in the order of their keys and periods. */
export function* listPeople(orgId: string): Steps<PeopleList> {
  const standing = yield* readStanding(orgId);
  const { people } = standing;
  const known = yield* readKnownUsers(orgId, standing);
  const { periods } = resolvePeople({ orgId, people, ...known });
  const usersOf = groupBy(periods, ({ person }) => person);
  const ids = new Set(known.users);
  const listed = people.map(({ org_id, ...row }) => ({
    ...row,
    key_column: keyColumnOf(row.person, (id) => ids.has(id)),
    users: new Set(usersOf.get(row.person)?.map(({ user_id }) => user_id)).size,
  }));
  return { org_id: orgId, people: listed };
}

/** The row of a file by which a listed person is loaded again. */
export function writtenPerson({ person, key_column, users, ...row }: ListedPerson): WrittenPerson {
  return { ...row, user_id: null, user_email: null, [key_column]: person };
}
