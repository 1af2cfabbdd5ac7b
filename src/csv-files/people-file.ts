import { tables } from '../../schema/tables.ts';
import type { Steps } from '../port/steps.ts';
import { ROLLUPS, refreshUsers } from '../rollups/refresh.ts';
import { readKnownUsers, resolvePeople } from '../rollups/resolve-people.ts';
import { type PersonRow, readStanding } from '../rollups/standing.ts';
import type { LoadedFile, Wording } from './loaded-file.ts';
import { type FittingPeople, fitPeople, type Move, movesOf, refuseDoubledUsers } from './people-changes.ts';
import { keyColumnOf, type PersonOfLine, peopleColumns, peopleOf } from './people-lines.ts';
import { rowStoreOf } from './replace-rows.ts';

/** A person and period. */
interface ListedPerson extends Omit<PersonRow, 'org_id'> {
  /** The column of a file in which the person is loaded again. */
  readonly key_column: 'user_id' | 'user_email';
  /** How many users with activity so far are this person on some day. */
  readonly users: number;
}

/** What a load of people has changed and found. Each person is counted once. */
interface FoundPeople extends FittingPeople {
  readonly added: number;
  readonly removed: number;
  /** People with another team than before on some day. */
  readonly moved: number;
  /** People of whom something else differs. */
  readonly changed: number;
  readonly unchanged: number;
  /** In the order of people and days. */
  readonly moves: readonly Move[];
}

/** Who belongs to which team, and when. Every row needs a user ID or an email address. */
export const peopleFile: LoadedFile<{
  columns: typeof peopleColumns;
  row: PersonRow;
  line: PersonOfLine;
  change: Move;
  found: FoundPeople;
  listed: ListedPerson;
}> = {
  noun: ['person', 'people'],
  format: { columns: peopleColumns, oneOf: ['user_email', 'user_id'] },
  store: rowStoreOf(tables.people),
  holdsEmails: true,
  lock: ROLLUPS,
  linesOf: peopleOf,
  compared: {
    nameOf: ({ person }) => person,
    itemsOf: movesOf,
    called: (moves) => (moves.length > 0 ? 'moved' : 'changed'),
  },
  *find({ orgId, file, lines, changes: { counts, items } }) {
    const known = yield* readKnownUsers(orgId, yield* readStanding(orgId));
    refuseDoubledUsers(lines, known, { orgId, file });
    const people = lines.map(({ row }) => row);
    return { ...fitPeople(orgId, people, known), ...counts, moves: items };
  },
  refresh: refreshUsers,
  list: listPeople,
  written: ({ person, key_column, users, ...row }) => ({
    ...row,
    user_id: null,
    user_email: null,
    [key_column]: person,
  }),
  screen: {
    sizeOf: ({ people }) => people,
    counts: [
      ['added', 'added'],
      ['removed', 'removed'],
      ['moved', 'moved between teams'],
      ['changed', 'changed otherwise'],
      ['unchanged', 'unchanged'],
    ],
    factsOf: ({ users, users_with_person: found, people_without_user }, { counted, number }) => [
      ['users found', `${number(found)} of ${counted(users, 'user')} with activity so far`],
      ['seats without activity', people_without_user],
    ],
    changes: {
      title: 'Moves',
      columns: [shrinking('person'), shrinking('from team'), shrinking('to team'), 'from', 'to'],
      itemsOf: ({ moves }) => moves,
      cellsOf: ({ person, from_team, to_team, valid_from, valid_to }, { text }) => [
        text(person),
        text(from_team),
        text(to_team),
        valid_from,
        valid_to,
      ],
    },
    warningsOf,
    list: {
      columns: [
        shrinking('person'),
        shrinking('team'),
        'from',
        'to',
        shrinking('name'),
        shrinking('department'),
        shrinking('cost center'),
        { header: 'users', align: 'right' },
      ],
      cellsOf: (row, { text }) => [
        text(row.person),
        text(row.team),
        row.valid_from,
        row.valid_to,
        text(row.name),
        text(row.department),
        text(row.cost_center),
        row.users,
      ],
    },
    whenEmpty: 'no people are loaded; daywalk people missing lists the users to begin with',
  },
};

function shrinking(header: string) {
  return { header, shrinks: true };
}

function warningsOf(
  { people, people_without_team, users, users_with_person }: FoundPeople,
  { counted, variable }: Wording,
): string[] {
  const warnings: string[] = [];
  if (people_without_team > 0) {
    warnings.push(
      `${counted(people_without_team, 'person has', 'people have')} no team; they count as unassigned.`,
    );
  }
  if (people > 0 && users > 0 && users_with_person === 0) {
    warnings.push(
      `No user is one of these people. Check that ${variable('emailMode')} is the same as for daywalk run.`,
    );
  }
  return warnings;
}

function* listPeople(orgId: string): Steps<readonly ListedPerson[]> {
  const standing = yield* readStanding(orgId);
  const { people } = standing;
  const known = yield* readKnownUsers(orgId, standing);
  const { periods } = resolvePeople({ orgId, people, ...known });
  const usersOf = Map.groupBy(periods, ({ person }) => person);
  const ids = new Set(known.users);
  return people.map(({ org_id, ...row }) => ({
    ...row,
    key_column: keyColumnOf(row.person, (id) => ids.has(id)),
    users: new Set(usersOf.get(row.person)?.map(({ user_id }) => user_id)).size,
  }));
}
