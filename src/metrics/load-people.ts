import { type Dialect, sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isDay, shiftDay, type UtcDay } from '../core/day.ts';
import type { Steps } from '../warehouse/port.ts';
import { refreshUsers } from '../warehouse/rollups/refresh.ts';
import {
  compareText,
  type KnownUsers,
  OPEN_END,
  readKnownUsers,
  resolvePeople,
} from '../warehouse/rollups/resolve-people.ts';
import { type PersonRow, peopleSha256, readStanding } from '../warehouse/rollups/standing.ts';
import { Mistakes } from './csv-columns.ts';
import type { PersonOfLine, StoringPeople } from './people-file.ts';

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

/**
 * Refuses lines of which two describe one user on one day: by user ID and by email address, or by two addresses of the
 * user. A line with both tells an address of the user, too.
 * @throws {UsageError} that names file, line and remedy of every mistake.
 */
export function refuseDoubledUsers(
  people: readonly PersonOfLine[],
  { users, emails }: Pick<KnownUsers, 'users' | 'emails'>,
  { orgId, file }: Pick<StoringPeople, 'orgId' | 'file'>,
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

/** A period in which a person now has another team than before. */
export interface Move {
  readonly person: string;
  readonly valid_from: string;
  /** NULL if it has no end. */
  readonly valid_to: string | null;
  readonly from_team: string | null;
  readonly to_team: string | null;
}

/** What differs between the people stored before and those loaded now, each person counted once. */
export interface PeopleChanges {
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

/** Compares two sets of people. */
export function changesOf(before: readonly PersonRow[], after: readonly PersonRow[]): PeopleChanges {
  const old = Map.groupBy(before, ({ person }) => person);
  const loaded = Map.groupBy(after, ({ person }) => person);
  const counts = { added: 0, removed: 0, moved: 0, changed: 0, unchanged: 0 };
  const moves: Move[] = [];
  for (const person of [...new Set([...old.keys(), ...loaded.keys()])].toSorted(compareText)) {
    const [from, to] = [old.get(person) ?? [], loaded.get(person) ?? []];
    const moved = movesOf(person, from, to);
    moves.push(...moved);
    counts[kindOf(from, to, moved)] += 1;
  }
  return { ...counts, moves };
}

function kindOf(
  from: readonly PersonRow[],
  to: readonly PersonRow[],
  moves: readonly Move[],
): Exclude<keyof PeopleChanges, 'moves'> {
  if (from.length === 0) return 'added';
  if (to.length === 0) return 'removed';
  if (moves.length > 0) return 'moved';
  return textOf(from) === textOf(to) ? 'unchanged' : 'changed';
}

/** Equal for equal rows, in any order. */
function textOf(rows: readonly PersonRow[]): string {
  const texts = rows.map((row) =>
    JSON.stringify([
      row.valid_from,
      row.valid_to,
      row.name,
      row.team,
      row.department,
      row.cost_center,
      row.manager_email,
    ]),
  );
  return texts.toSorted(compareText).join('\n');
}

function movesOf(person: string, from: readonly PersonRow[], to: readonly PersonRow[]): Move[] {
  const moves: Move[] = [];
  const starts = startsOf([...from, ...to]);
  for (const [index, day] of starts.entries()) {
    const [was, is] = [rowOn(day, from), rowOn(day, to)];
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

function rowOn(day: string, rows: readonly PersonRow[]): PersonRow | undefined {
  return rows.find(({ valid_from, valid_to }) => valid_from <= day && (valid_to ?? OPEN_END) >= day);
}
