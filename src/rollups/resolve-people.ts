import { listOf, type SQL, sql } from '../../schema/query.ts';
import type { RowOf } from '../../schema/row.ts';
import { OPEN_END } from '../../schema/row.ts';
import type { tables } from '../../schema/tables.ts';
import { daysFrom, isDay, shiftDay } from '../core/day.ts';
import { compareText } from '../core/json.ts';
import type { QueryRow, Steps } from '../port/index.ts';
import { bucketsOf } from './calendar.ts';
import type { Standing } from './standing.ts';

type Person = RowOf<typeof tables.people>;

/** The word for "without a team" wherever people read or type a team. No team can have it as its name. */
export const UNASSIGNED = 'unassigned';

/** A row of `user_teams`. */
export type TeamPeriod = RowOf<typeof tables.userTeams>;

/** What is known of the people and users of an organization. */
export interface PeopleInput {
  readonly orgId: string;
  readonly people: readonly Person[];
  /** The email addresses that each user ever had; an address may occur several times. */
  readonly emails: readonly {
    readonly user_id: string;
    readonly user_email: string;
    readonly last_seen_on: string;
  }[];
  readonly users: readonly string[];
}

/** Days on which a user has several people. One of them is used. */
export interface PeopleConflict {
  readonly user_id: string;
  readonly valid_from: string;
  /** 9999-12-31 if the conflict has no end. */
  readonly valid_to: string;
  /** The person that is used. */
  readonly person: string;
  /** The other people of these days, in the order in which they would be used. */
  readonly others: readonly string[];
}

/** Which person each user is, see {@link resolvePeople}. */
interface ResolvedPeople {
  readonly periods: readonly TeamPeriod[];
  readonly conflicts: readonly PeopleConflict[];
}

/**
 * Finds the person of each user on each day: the one with the user's ID, otherwise one with an email address that the user
 * ever had, in any case: first the address seen last, then the smallest key. The periods of a user do not overlap.
 */
export function resolvePeople({ orgId, people, emails, users }: PeopleInput): ResolvedPeople {
  const peopleByKey = Map.groupBy(people, ({ person }) => person);
  const peopleByEmail = Map.groupBy(people, ({ person }) => person.toLowerCase());
  const emailsByUser = Map.groupBy(emails, ({ user_id }) => user_id);
  const periods: TeamPeriod[] = [];
  const conflicts: PeopleConflict[] = [];
  for (const user of users) {
    const byEmail = emailsSeenLast(emailsByUser.get(user) ?? [])
      .filter((email) => email !== user)
      .map((email) => peopleByEmail.get(email) ?? []);
    const candidates = [peopleByKey.get(user) ?? [], ...byEmail].filter((rows) => rows.length > 0);
    for (const { used, others, from, to } of spansOf(candidates)) {
      const { person, team, department, cost_center } = used;
      const period = { user_id: user, valid_from: from, valid_to: to, person };
      addPeriod(periods, { org_id: orgId, ...period, team, department, cost_center });
      if (others.length > 0) addConflict(conflicts, { ...period, others: others.map((row) => row.person) });
    }
  }
  return { periods, conflicts };
}

/** The addresses of a user in lower case: those seen last first, those seen on the same day in alphabetical order. */
function emailsSeenLast(emails: PeopleInput['emails']): string[] {
  const lastSeen = new Map<string, string>();
  for (const { user_email, last_seen_on } of emails) {
    const email = user_email.toLowerCase();
    const known = lastSeen.get(email);
    if (known === undefined || known < last_seen_on) lastSeen.set(email, last_seen_on);
  }
  const sorted = [...lastSeen].toSorted(
    ([emailA, dayA], [emailB, dayB]) => compareText(dayB, dayA) || compareText(emailA, emailB),
  );
  return sorted.map(([email]) => email);
}

/** Days on which the same rows of people are valid. */
interface Span {
  readonly from: string;
  readonly to: string;
  readonly used: Person;
  readonly others: readonly Person[];
}

/** Cuts the time at every start and end of a row. `candidates` are the rows of each person, the preferred person first. */
function* spansOf(candidates: readonly (readonly Person[])[]): Generator<Span, void, void> {
  const timelines = candidates.map(createTimeline);
  const starts = boundariesOf(candidates.flat());
  for (const [index, from] of starts.entries()) {
    const [used, ...others] = timelines.flatMap((rowAt) => rowAt(from) ?? []);
    const next = starts[index + 1];
    const to = next === undefined ? OPEN_END : shifted(next, -1);
    if (used !== undefined) yield { from, to, used, others };
  }
}

/** Returns a function that finds the row valid on a day. It must be asked for ascending days. */
function createTimeline(rows: readonly Person[]): (day: string) => Person | undefined {
  const sorted = rows.toSorted((a, b) => compareText(a.valid_from, b.valid_from));
  let next = 0;
  return (day) => {
    while ((sorted[next]?.valid_from ?? OPEN_END) <= day && next < sorted.length) next += 1;
    const row = sorted[next - 1];
    return row !== undefined && (row.valid_to ?? OPEN_END) >= day ? row : undefined;
  };
}

function boundariesOf(rows: readonly Person[]): string[] {
  const days = new Set<string>();
  for (const { valid_from, valid_to } of rows) {
    days.add(valid_from);
    if (valid_to !== null && valid_to < OPEN_END) days.add(shifted(valid_to, 1));
  }
  return [...days].toSorted(compareText);
}

/** Adds a period, or extends the last one if it is the same but earlier. */
function addPeriod(periods: TeamPeriod[], period: TeamPeriod): void {
  const last = periods.at(-1);
  const isSame =
    last !== undefined &&
    last.person === period.person &&
    last.team === period.team &&
    last.department === period.department &&
    last.cost_center === period.cost_center;
  if (isSame && isFollowedBy(last, period)) periods.splice(-1, 1, { ...last, valid_to: period.valid_to });
  else periods.push(period);
}

function addConflict(conflicts: PeopleConflict[], conflict: PeopleConflict): void {
  const last = conflicts.at(-1);
  const isSame =
    last !== undefined &&
    last.person === conflict.person &&
    last.others.length === conflict.others.length &&
    last.others.every((person, index) => person === conflict.others[index]);
  if (isSame && isFollowedBy(last, conflict))
    conflicts.splice(-1, 1, { ...last, valid_to: conflict.valid_to });
  else conflicts.push(conflict);
}

type UserDays = Pick<PeopleConflict, 'user_id' | 'valid_from' | 'valid_to'>;

function isFollowedBy(earlier: UserDays, later: UserDays): boolean {
  return earlier.user_id === later.user_id && shifted(earlier.valid_to, 1) === later.valid_from;
}

/** Moves by a day are kept, because the periods of an organization begin and end on few days. */
const moves = new Map<string, string>();
const MOVES_MAX = 10_000;

function shifted(day: string, days: 1 | -1): string {
  const move = `${day} ${days}`;
  let to = moves.get(move);
  if (to === undefined) {
    to = isDay(day) && (day !== OPEN_END || days < 0) ? shiftDay(day, days) : day;
    if (moves.size >= MOVES_MAX) moves.clear();
    moves.set(move, to);
  }
  return to;
}

/** The users of an organization, in the order of their IDs, and the email addresses that they ever had. */
export interface KnownUsers extends Pick<PeopleInput, 'emails' | 'users'> {
  /** The last day with a row of each user. */
  readonly lastActiveOn: ReadonlyMap<string, string>;
}

/**
 * Reads every user with every email address that the user ever had: from the rollups of the months that are current, from
 * `user_daily` in the others.
 * @param standing the standing of the rollups in the same state of the database.
 * @param only the only users to read, some hundred. @default all
 */
export function* readKnownUsers(
  orgId: string,
  { stale }: Pick<Standing, 'stale'>,
  only?: readonly string[],
): Steps<KnownUsers> {
  const months = bucketsOf('monthly', stale.monthly);
  const names = months.map(({ name }) => sql`${name}`);
  const conditions = [
    sql`org_id = ${orgId}`,
    ...(only === undefined ? [] : [sql`user_id IN (${listOf(only.map((user) => sql`${user}`))})`]),
  ];
  const ofUsers = sql.join(conditions, sql` AND `);
  const ofCurrentMonths: SQL =
    names.length === 0 ? ofUsers : sql`${ofUsers} AND month NOT IN (${listOf(names)})`;
  const active = yield sql`
    SELECT user_id, NULL AS user_email, MAX(last_active_on) AS last_seen_on FROM user_monthly
    WHERE ${ofCurrentMonths} GROUP BY user_id`;
  const addressed = yield sql`
    SELECT user_id, user_email, MAX(last_seen_on) AS last_seen_on FROM user_emails
    WHERE ${ofCurrentMonths} GROUP BY user_id, user_email`;
  const found = [...active, ...addressed];
  for (const { firstDay, lastDay } of months) {
    // Each day of few users is found by the key.
    const days = daysFrom(firstDay, lastDay).map((day) => sql`${day}`);
    const inMonth =
      only === undefined ? sql`date BETWEEN ${firstDay} AND ${lastDay}` : sql`date IN (${listOf(days)})`;
    const rows = yield sql`
      SELECT user_id, user_email, MAX(date) AS last_seen_on FROM user_daily
      WHERE ${ofUsers} AND ${inMonth} GROUP BY user_id, user_email`;
    found.push(...rows);
  }
  return knownIn(found);
}

/** Rows without an email address only tell when a user was active. */
function knownIn(rows: readonly QueryRow[]): KnownUsers {
  const lastActiveOn = new Map<string, string>();
  for (const row of rows) {
    const [user, day] = [String(row['user_id']), String(row['last_seen_on'])];
    if ((lastActiveOn.get(user) ?? '') < day) lastActiveOn.set(user, day);
  }
  const emails = rows.flatMap(({ user_id, user_email = null, last_seen_on }) =>
    user_email === null
      ? []
      : [{ user_id: String(user_id), user_email: String(user_email), last_seen_on: String(last_seen_on) }],
  );
  return { emails, users: [...lastActiveOn.keys()].toSorted(compareText), lastActiveOn };
}

/**
 * The rows of `user_teams` as they follow from the people and the stored days. Memory holds both.
 * @param only the only users to resolve, some hundred. @default all
 */
export function* teamPeriods(
  orgId: string,
  standing: Pick<Standing, 'people' | 'stale'>,
  only?: readonly string[],
): Steps<readonly TeamPeriod[]> {
  const { people } = standing;
  if (people.length === 0) return [];
  const known = yield* readKnownUsers(orgId, standing, only);
  return resolvePeople({ orgId, people, ...known }).periods;
}
