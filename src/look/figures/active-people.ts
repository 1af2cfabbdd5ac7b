import { type SQL, sql } from '../../../schema/query.ts';
import { UsageError } from '../../core/errors.ts';
import {
  type NamedQuery,
  type Period,
  PHRASES,
  selectSql,
  teamsInPlaceOfTable,
  withSql,
} from '../../metrics/index.ts';
import { PSEUDONYM_LIKE } from '../../privacy/index.ts';
import {
  cellOf,
  changeOf,
  differenceOf,
  type MetricResult,
  type NumberFormat,
  noNumber,
  type Result,
  type ShownNumber,
} from '../numbers.ts';
import { type Cell, linkTo, type Table } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { holeIn, NO_SPAN_BEFORE, periodBefore } from '../time-spans.ts';
import { activityOfUsers } from './user-weeks.ts';

/** The numbers of a person, by the name that `?sort=` takes. */
const PERSON_NUMBERS = {
  credits: { metric: 'billable_tokens', title: 'Credits', format: 'compact' },
  sessions: { metric: 'sessions', title: 'Sessions', format: 'count' },
  commits: { metric: 'git_commits', title: 'Commits', format: 'count' },
} as const satisfies Record<string, { metric: string; title: string; format: NumberFormat }>;

type PersonNumber = keyof typeof PERSON_NUMBERS;

/** A user with activity in the period. */
export interface ActivePerson {
  readonly userId: string;
  /** The address of the last active day in the period, otherwise the latest that is known. */
  readonly email: string | null;
  readonly name: string | null;
  /** The team on the last active day in the period. */
  readonly team: string | null;
  readonly lastActiveOn: string;
  /** The number of days with a row in the period. */
  readonly activeDays: ShownNumber;
  /** Those that were read. */
  readonly numbers: Readonly<Partial<Record<PersonNumber, ShownNumber>>>;
  /** The credits less those of the span before; only where they are compared. */
  readonly change?: ShownNumber | undefined;
  /** The same relative to the span before; undefined for who had no use in it. */
  readonly relative?: ShownNumber | undefined;
}

/** What of people is read besides who they are. */
interface Wanted {
  readonly numbers: readonly PersonNumber[];
  /** True to compare the credits with those of the span before. */
  readonly isCompared: boolean;
}

/** The users with activity in the period and team of the filters, in the order of their IDs. */
export async function readActivePeople(
  reader: PageReader,
  { numbers, isCompared }: Wanted,
): Promise<{ readonly people: readonly ActivePerson[]; readonly results: readonly Result[] }> {
  const query = await peopleQuery(reader);
  const found = await reader.select({ title: 'People with activity', query, streams: ['users'] });
  const read = new Map<PersonNumber, NumbersByUser>();
  for (const name of numbers) read.set(name, await numbersByUser(reader, name));
  const before = isCompared ? await creditsBefore(reader, read.get('credits')) : null;
  const people = found.rows.map((row, index): ActivePerson => {
    const userId = String(row['user_id']);
    const own = new Map([...read].map(([name, { numberOf }]) => [name, numberOf(userId)]));
    const credits = own.get('credits');
    return {
      userId,
      email: textOf(row['user_email']),
      name: textOf(row['name']),
      team: textOf(row['team']),
      lastActiveOn: String(row['last_active_on']),
      activeDays: cellOf(found, index, 'count', { column: 'active_days' }),
      numbers: Object.fromEntries(own),
      ...(before !== null && credits !== undefined && before.changeOf(userId, credits)),
    };
  });
  return {
    people,
    results: [found, ...[...read.values()].map(({ result }) => result), ...(before?.results ?? [])],
  };
}

interface NumbersByUser {
  readonly result: MetricResult;
  numberOf(userId: string): ShownNumber;
}

/** How the credits of people have changed since the span before. Nobody is compared with a span that lacks a day. */
async function creditsBefore(reader: PageReader, now: NumbersByUser | undefined) {
  const before = periodBefore(reader.filters);
  const then = before === null ? null : await numbersByUser(reader, 'credits', before);
  const why = then === null || now === undefined ? NO_SPAN_BEFORE : holeIn(now.result, then.result);
  const known = new Set(then?.result.rows.map(({ user }) => user));
  return {
    results: then === null ? [] : [then.result],
    changeOf: (userId: string, credits: ShownNumber): Pick<ActivePerson, 'change' | 'relative'> => {
      if (then === null || why !== undefined)
        return { change: noNumber(why ?? '', 'compactChange'), relative: noNumber(why ?? '', 'change') };
      // Who had no row had no use: all of it is new.
      if (!known.has(userId)) return { change: { ...credits, format: 'compactChange' }, relative: undefined };
      const was = then.numberOf(userId);
      return { change: differenceOf(credits, was, 'compactChange'), relative: changeOf(credits, was) };
    },
  };
}

async function numbersByUser(
  reader: PageReader,
  name: PersonNumber,
  before?: Period,
): Promise<NumbersByUser> {
  const { metric, title, format } = PERSON_NUMBERS[name];
  const when = before === undefined ? '' : ' before';
  const result = await reader.ask({ metric, title: `${title} by user${when}`, by: ['user'], ...before });
  const rows = new Map(result.rows.map((row, index) => [row['user'], index]));
  return {
    result,
    numberOf: (userId) => {
      const row = rows.get(userId);
      return row === undefined
        ? noNumber('no value is stored', format)
        : cellOf(result, row, format, { why: result.warnings[0] ?? 'the service sent no value' });
    },
  };
}

/** The active days of each user, all of them or those in a team. */
async function activeQueries(reader: PageReader): Promise<readonly NamedQuery[]> {
  const { orgId, from, until, team } = reader.filters;
  // People without a name are in no list.
  const isShown = sql`r.user_id NOT LIKE ${PSEUDONYM_LIKE}`;
  if (team === undefined) {
    const body = sql`  SELECT r.user_id, SUM(r.active_days) AS active_days, MAX(r.last_active_on) AS last_active_on
  FROM activity r WHERE ${isShown} GROUP BY r.user_id`;
    return [await activityOfUsers(reader), { name: 'active', body }];
  }
  const { ofTeam } = PHRASES[reader.warehouse.dialect];
  const body = selectSql(
    {
      columns: [sql`r.user_id`, sql`COUNT(*) AS active_days`, sql`MAX(r.date) AS last_active_on`],
      from: [sql`user_daily r`, sql`LEFT JOIN ${teamOn('r', sql`r.date`, orgId)}`],
      where: [
        sql`r.org_id = ${orgId}`,
        sql`r.date BETWEEN ${from} AND ${until}`,
        isShown,
        team === null ? sql`t.team IS NULL` : ofTeam(orgId, team),
      ],
      groupBy: [sql`r.user_id`],
    },
    '  ',
  );
  return [{ name: 'active', body }];
}

async function peopleQuery(reader: PageReader): Promise<SQL> {
  const {
    warehouse,
    filters: { orgId },
  } = reader;
  const teams = await teamsInPlaceOfTable(warehouse, orgId);
  const main = selectSql({
    columns: [
      sql`a.user_id`,
      sql`COALESCE(l.user_email, u.user_email) AS user_email`,
      sql`p.name`,
      sql`t.team`,
      sql`a.active_days`,
      sql`a.last_active_on`,
    ],
    from: [
      sql`active a`,
      sql`JOIN user_daily l ON l.org_id = ${orgId} AND l.date = a.last_active_on AND l.user_id = a.user_id`,
      sql`LEFT JOIN users u ON u.org_id = ${orgId} AND u.user_id = a.user_id`,
      sql`LEFT JOIN ${teamOn('a', sql`a.last_active_on`, orgId)}`,
      sql`LEFT JOIN people p ON p.org_id = ${orgId} AND p.person = t.person
    AND a.last_active_on >= p.valid_from AND (p.valid_to IS NULL OR a.last_active_on <= p.valid_to)`,
    ],
    orderBy: [PHRASES[warehouse.dialect].sortable(sql`a.user_id`)],
  });
  return withSql([...teams, ...(await activeQueries(reader))], main);
}

function teamOn(rows: 'r' | 'a', day: SQL, orgId: string): SQL {
  return sql`user_teams t ON t.org_id = ${orgId} AND t.user_id = ${sql.raw(rows)}.user_id
    AND ${day} BETWEEN t.valid_from AND t.valid_to`;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** An order of people. */
export interface PeopleOrder {
  readonly by: PeopleSort;
  readonly descending: boolean;
}

/** What people can be sorted by. */
const PEOPLE_SORTS = ['person', 'team', 'credits', 'days', 'change'] as const;
type PeopleSort = (typeof PEOPLE_SORTS)[number];

/** Most credits first. */
const DEFAULT_ORDER: PeopleOrder = { by: 'credits', descending: true };

/** A part of a list of people. */
interface PeopleSlice {
  readonly people: readonly ActivePerson[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/**
 * The order that a URL asks for.
 * @throws {UsageError} if it names no column.
 */
export function peopleOrder(
  sort: { readonly by: string; readonly descending: boolean } | undefined,
): PeopleOrder {
  if (sort === undefined) return DEFAULT_ORDER;
  const by = PEOPLE_SORTS.find((name) => name === sort.by);
  if (by !== undefined) return { by, descending: sort.descending };
  throw new UsageError(`people are not sorted by "${sort.by}"`, {
    hint: `choose one of ${PEOPLE_SORTS.join(', ')}`,
  });
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

/** So much of a long ID tells it from others, which begin alike. */
const PSEUDONYM_CHARACTERS = 6;
const ID_CHARACTERS_MAX = 12;

/** What a person is called in a list: by name, otherwise by email address, otherwise by the end of the ID. */
function shownName(person: Pick<ActivePerson, 'name' | 'email' | 'userId'>): string {
  const characters = [...person.userId];
  const isLong = person.name === null && person.email === null && characters.length > ID_CHARACTERS_MAX;
  return isLong ? `…${characters.slice(-PSEUDONYM_CHARACTERS).join('')}` : personName(person);
}

/** What a person is called: by name, otherwise by email address, otherwise by ID. */
function personName({ name, email, userId }: Pick<ActivePerson, 'name' | 'email' | 'userId'>): string {
  return name ?? email ?? userId;
}

function keyOf(person: ActivePerson, by: PeopleSort): string | number | null {
  switch (by) {
    case 'person':
      return folded(personName(person));
    case 'team':
      return person.team === null ? null : folded(person.team);
    case 'days':
      return person.activeDays.value;
    case 'change':
      return person.change?.value ?? null;
    default:
      return person.numbers[by]?.value ?? null;
  }
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** The numbers of a team's people. */
export const MEMBER_NUMBERS = ['credits', 'sessions', 'commits'] as const satisfies readonly PersonNumber[];

/**
 * A row per person of a team, each with a link to the page of the person.
 * @param among the list that the people are a part of, by which columns are chosen.
 */
export function membersTable(
  people: readonly ActivePerson[],
  among: readonly ActivePerson[] = people,
): Table {
  // An address has a column of its own only where names are shown in its place.
  const hasNames = among.some(({ name }) => name !== null);
  const hasEmails = among.some(({ email }) => email !== null);
  return {
    columns: [
      { title: 'Person' },
      ...(hasNames && hasEmails ? [{ title: 'Email', isSpare: true }] : []),
      ...(hasNames || hasEmails ? [{ title: 'ID', isSpare: true }] : []),
      ...MEMBER_NUMBERS.map((name) => ({ title: PERSON_NUMBERS[name].title, align: 'end' as const })),
      { title: 'Active days', align: 'end' },
      { title: 'Last active', align: 'end' },
    ],
    rows: people.map((person) => [
      personCell(person),
      ...(hasNames && hasEmails ? [textOr(person.email)] : []),
      ...(hasNames || hasEmails ? [{ kind: 'text' as const, text: person.userId, isCode: true }] : []),
      ...MEMBER_NUMBERS.map((name) => person.numbers[name] ?? noNumber('it was not read')),
      person.activeDays,
      { kind: 'text' as const, text: person.lastActiveOn },
    ]),
    isDense: true,
  };
}

/** A person by what a list calls them, with a link to their page. */
export function personCell(person: Pick<ActivePerson, 'name' | 'email' | 'userId'>): Cell {
  return linkTo('/people', person.userId, shownName(person));
}

function textOr(text: string | null): Cell {
  return text === null ? muted('–') : { kind: 'text', text };
}

export function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}
