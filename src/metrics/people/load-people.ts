import { type Dialect, sql } from '../../../schema/query.ts';
import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { Steps } from '../../warehouse/port.ts';
import { type KnownUsers, readKnownUsers } from '../../warehouse/rollups/known-users.ts';
import { type PersonRow, peopleSha256 } from '../../warehouse/rollups/people-digest.ts';
import { refreshUsers } from '../../warehouse/rollups/refresh-users.ts';
import { compareText, resolvePeople } from '../../warehouse/rollups/resolve-people.ts';
import { readStanding } from '../../warehouse/rollups/standing.ts';
import { refuseDoubledUsers } from './check-users.ts';
import { changesOf, type PeopleChanges } from './people-changes.ts';
import type { PersonOfLine } from './stored-people.ts';

/** What a load has done, or would do. */
export interface PeopleLoad extends PeopleChanges {
  readonly org_id: string;
  /** True if nothing was stored because it was a dry run. */
  readonly dry_run: boolean;
  /** Number of people, and of their periods. */
  readonly people: number;
  readonly periods: number;
  /** People without a user who has activity: seats without activity so far. */
  readonly people_without_user: number;
  /** People with a period without a team. */
  readonly people_without_team: number;
  /** Users with activity so far, and how many of them are one of the people on some day. */
  readonly users: number;
  readonly users_with_person: number;
}

export interface LoadOptions {
  readonly orgId: string;
  /** The name of the file in messages. */
  readonly file: string;
  readonly dialect: Dialect;
  readonly isDryRun: boolean;
}

const encode = encoderOf(tables.people);

/**
 * Replaces the people of an organization, and refreshes the rollups that depend on them. Writes nothing in a dry run, and
 * nothing if the people are stored already.
 * @throws {UsageError} if two lines describe one user on one day.
 */
export function* loadPeople(loaded: readonly PersonOfLine[], options: LoadOptions): Steps<PeopleLoad> {
  const { orgId, dialect, isDryRun } = options;
  const standing = yield* readStanding(orgId);
  const known = yield* readKnownUsers(orgId, standing);
  refuseDoubledUsers(loaded, known, options);
  const before = standing.people;
  const after = loaded.map(({ row }) => row).toSorted(inKeyOrder);
  if (!isDryRun && peopleSha256(before) !== peopleSha256(after)) {
    yield sql`DELETE FROM people WHERE org_id = ${orgId}`;
    yield { table: tables.people, rows: after.map(encode) };
    yield* refreshUsers(dialect, orgId);
  }
  return {
    org_id: orgId,
    dry_run: isDryRun,
    ...countsOf(orgId, after, known),
    ...changesOf(before, after),
  };
}

function countsOf(orgId: string, people: readonly PersonRow[], known: KnownUsers) {
  const { periods } = resolvePeople({ orgId, people, ...known });
  const count = (values: readonly string[]) => new Set(values).size;
  const all = count(people.map(({ person }) => person));
  return {
    people: all,
    periods: people.length,
    people_without_user: all - count(periods.map(({ person }) => person)),
    people_without_team: count(people.filter(({ team }) => team === null).map(({ person }) => person)),
    users: known.users.length,
    users_with_person: count(periods.map(({ user_id }) => user_id)),
  };
}

function inKeyOrder(a: PersonRow, b: PersonRow): number {
  return compareText(a.person, b.person) || compareText(a.valid_from, b.valid_from);
}
