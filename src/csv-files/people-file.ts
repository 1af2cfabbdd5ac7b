import { OPEN_END, validOn } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { compareText } from '../core/json.ts';
import type { Steps } from '../port/index.ts';
import { isPseudonym } from '../privacy/index.ts';
import {
  type KnownUsers,
  type PersonRow,
  ROLLUPS,
  readKnownUsers,
  readStanding,
  refreshUsers,
  resolvePeople,
} from '../rollups/index.ts';
import { previewTeams, type TeamPreview } from '../weeks/index.ts';
import { Mistakes } from './csv-columns.ts';
import type { LoadedFile, Wording } from './loaded-file.ts';
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
  /** The weeks that the next run publishes with these teams, for good; a dry run has their blocks. */
  readonly published: TeamPreview;
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
  *find({ orgId, file, lines, changes: { counts, items }, isDryRun, minGroup }) {
    const known = yield* readKnownUsers(orgId, yield* readStanding(orgId));
    refuseDoubledUsers(lines, known, { orgId, file });
    const people = lines.map(({ row }) => row);
    const teams = resolvePeople({ orgId, people, ...known }).periods;
    const published = yield* previewTeams({ orgId, minGroup, teams }, isDryRun);
    return { ...fitPeople(orgId, people, known), ...counts, moves: items, published };
  },
  refresh: refreshUsers,
  list: listPeople,
  // A file without the erased would take them out of their teams.
  isHidden: ({ person }) => isPseudonym(person),
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
    factsOf: (
      { users, users_with_person: found, people_without_user, published },
      { counted, number, text },
    ) => [
      ['users found', `${number(found)} of ${counted(users, 'user')} with activity so far`],
      ['seats without activity', people_without_user],
      ...(published.weeks === 0 ? [] : [['weeks to publish with these teams', published.weeks] as const]),
      ...[...Map.groupBy(published.blocks, ({ week_start }) => week_start)].map(
        ([week, blocks]) => [`week of ${week}`, blocksOf(blocks, text)] as const,
      ),
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

/** A week without a block says nothing beside its total. */
function blocksOf(blocks: TeamPreview['blocks'], text: Wording['text']): string {
  const named = blocks.filter(({ block }) => block !== '');
  if (named.length === 0) return 'no team, because of too few people';
  return named.map(({ block, people }) => `${text(block)} ${people}`).join(', ');
}

function shrinking(header: string) {
  return { header, shrinks: true };
}

function warningsOf(
  { people, people_without_team, users, users_with_person, published }: FoundPeople,
  { counted, variable }: Wording,
): string[] {
  const warnings: string[] = [];
  if (people_without_team > 0) {
    warnings.push(
      `${counted(people_without_team, 'person has', 'people have')} no team; they count as unassigned.`,
    );
  }
  if (published.weeks > 0) {
    warnings.push(
      `The next run publishes ${counted(published.weeks, 'week')} with these teams for reports to a team or the public; later loads do not change them.`,
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

/** A period in which a person now has another team than before. */
interface Move {
  readonly person: string;
  readonly valid_from: string;
  /** NULL if it has no end. */
  readonly valid_to: string | null;
  readonly from_team: string | null;
  readonly to_team: string | null;
}

/** The days on which a person has another team after a load than before, in their order. */
function movesOf(person: string, from: readonly PersonRow[], to: readonly PersonRow[]): Move[] {
  const moves: Move[] = [];
  const starts = startsOf([...from, ...to]);
  for (const [index, day] of starts.entries()) {
    const [was, is] = [validOn(from, day), validOn(to, day)];
    if (was === undefined || is === undefined || was.team === is.team) continue;
    const next = starts[index + 1];
    const valid_to = next === undefined ? null : shiftDay(next, -1);
    const last = moves.at(-1);
    const continues =
      last !== undefined &&
      last.from_team === was.team &&
      last.to_team === is.team &&
      last.valid_to !== null &&
      isDay(last.valid_to) &&
      shiftDay(last.valid_to, 1) === day;
    if (continues) moves.splice(-1, 1, { ...last, valid_to });
    else moves.push({ person, valid_from: day, valid_to, from_team: was.team, to_team: is.team });
  }
  return moves;
}

/** The days on which one of the rows begins, or has just ended. */
function startsOf(rows: readonly PersonRow[]): UtcDay[] {
  const days = new Set<UtcDay>();
  for (const { valid_from, valid_to } of rows) {
    if (isDay(valid_from)) days.add(valid_from);
    if (isDay(valid_to) && valid_to < OPEN_END) days.add(shiftDay(valid_to, 1));
  }
  return [...days].toSorted(compareText);
}

/** How loaded people fit the users of the organization. */
interface FittingPeople {
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

/** Counts how people fit the users. */
function fitPeople(orgId: string, people: readonly PersonRow[], known: KnownUsers): FittingPeople {
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

/**
 * Refuses lines of which two describe one user on one day: by user ID and by email address, or by two addresses of the
 * user. A line with both tells an address of the user, too.
 * @throws {UsageError} that names file, line and remedy of every mistake.
 */
function refuseDoubledUsers(
  people: readonly PersonOfLine[],
  { users, emails }: Pick<KnownUsers, 'users' | 'emails'>,
  { orgId, file }: { readonly orgId: string; readonly file: string },
): void {
  const told = people.flatMap(({ row, email }) =>
    email === null || email === row.person
      ? []
      : [{ user_id: row.person, user_email: email, last_seen_on: '' }],
  );
  const { conflicts } = resolvePeople({
    orgId,
    people: people.map(({ row }) => row),
    emails: [...emails, ...told],
    users: [...new Set([...users, ...told.map(({ user_id }) => user_id)])],
  });
  const linesByPerson = Map.groupBy(people, ({ row }) => row.person);
  const mistakes = new Mistakes(file);
  for (const { user_id, valid_from, person, others } of conflicts) {
    const lines = [person, ...others]
      .flatMap((key) => linesByPerson.get(key) ?? [])
      .filter(({ row }) => row.valid_from <= valid_from && (row.valid_to ?? OPEN_END) >= valid_from)
      .map(({ line }) => line)
      .toSorted((a, b) => a - b);
    const [first, second] = lines;
    if (first === undefined || second === undefined) continue;
    mistakes.add({
      line: second,
      message: `this line and line ${first} both describe the user ${user_id} on ${valid_from}`,
      hint: 'remove one of the lines; if they are different people, give the user_id of each instead of the email address',
    });
  }
  mistakes.refuse();
}
