import { isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { compareText, type KnownUsers, OPEN_END, resolvePeople } from '../rollups/resolve-people.ts';
import type { PersonRow } from '../rollups/standing.ts';
import { Mistakes } from './csv-columns.ts';
import type { PersonOfLine } from './people-lines.ts';

/** A period in which a person now has another team than before. */
export interface Move {
  readonly person: string;
  readonly valid_from: string;
  /** NULL if it has no end. */
  readonly valid_to: string | null;
  readonly from_team: string | null;
  readonly to_team: string | null;
}

/** The days on which a person has another team after a load than before, in their order. */
export function movesOf(person: string, from: readonly PersonRow[], to: readonly PersonRow[]): Move[] {
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

/** How loaded people fit the users of the organization. */
export interface FittingPeople {
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
export function fitPeople(orgId: string, people: readonly PersonRow[], known: KnownUsers): FittingPeople {
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
export function refuseDoubledUsers(
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
