import { type SQL, sql } from '../../../schema/query.ts';
import { type NamedQuery, PHRASES, selectSql, teamsInPlaceOfTable, withSql } from '../../metrics/index.ts';
import { PSEUDONYM_LIKE } from '../../privacy/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import {
  cellOf,
  type MetricResult,
  type NumberFormat,
  noNumber,
  type Result,
  type ShownNumber,
} from '../numbers.ts';
import { type Cell, type Column, linkTo, type Table } from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';

type Phrases = (typeof PHRASES)['sqlite'];

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
  readonly numbers: Readonly<Record<PersonNumber, ShownNumber>>;
}

/** The users with activity in the period and team of the filters, in the order of their IDs. */
export async function readActivePeople(
  reader: PageReader,
): Promise<{ readonly people: readonly ActivePerson[]; readonly results: readonly Result[] }> {
  const { warehouse, filters } = reader;
  const query = peopleQuery(filters, {
    ...PHRASES[warehouse.dialect],
    teams: await teamsInPlaceOfTable(warehouse, filters.orgId),
  });
  const found = await reader.select({ title: 'People with activity', query, streams: ['users'] });
  const credits = await numbersByUser(reader, 'credits');
  const sessions = await numbersByUser(reader, 'sessions');
  const commits = await numbersByUser(reader, 'commits');
  const people = found.rows.map((row, index): ActivePerson => {
    const userId = String(row['user_id']);
    return {
      userId,
      email: textOf(row['user_email']),
      name: textOf(row['name']),
      team: textOf(row['team']),
      lastActiveOn: String(row['last_active_on']),
      activeDays: cellOf(found, index, 'count', { column: 'active_days' }),
      numbers: {
        credits: credits.numberOf(userId),
        sessions: sessions.numberOf(userId),
        commits: commits.numberOf(userId),
      },
    };
  });
  return { people, results: [found, credits.result, sessions.result, commits.result] };
}

async function numbersByUser(
  reader: PageReader,
  name: PersonNumber,
): Promise<{ readonly result: MetricResult; numberOf(userId: string): ShownNumber }> {
  const { metric, title, format } = PERSON_NUMBERS[name];
  const result = await reader.ask({ metric, title: `${title} by user`, by: ['user'] });
  const rows = new Map(result.rows.map((row, index) => [row['user'], index]));
  return {
    result,
    numberOf: (userId) => {
      const row = rows.get(userId);
      return row === undefined
        ? noNumber('no value is stored', format)
        : cellOf(result, row, format, { why: 'the service sent no value' });
    },
  };
}

function peopleQuery(
  { orgId, from, until, team }: Filters,
  { sortable, joined, teams }: Pick<Phrases, 'sortable' | 'joined'> & { teams: readonly NamedQuery[] },
): SQL {
  const days = selectSql(
    {
      columns: [sql`r.user_id`, sql`COUNT(*) AS active_days`, sql`MAX(r.date) AS last_active_on`],
      from: [
        sql`user_daily r`,
        ...(team === undefined ? [] : [sql`LEFT JOIN ${teamOn('r', sql`r.date`, orgId)}`]),
      ],
      where: [
        sql`r.org_id = ${orgId}`,
        sql`r.date BETWEEN ${from} AND ${until}`,
        // Erased people are in no list.
        sql`r.user_id NOT LIKE ${PSEUDONYM_LIKE}`,
        ...(team === undefined ? [] : [team === null ? sql`t.team IS NULL` : joined(sql`t.team`, team)]),
      ],
      groupBy: [sql`r.user_id`],
    },
    '  ',
  );
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
    orderBy: [sortable(sql`a.user_id`)],
  });
  return withSql([...teams, { name: 'active', body: days }], main);
}

function teamOn(rows: 'r' | 'a', day: SQL, orgId: string): SQL {
  return sql`user_teams t ON t.org_id = ${orgId} AND t.user_id = ${sql.raw(rows)}.user_id
    AND ${day} BETWEEN t.valid_from AND t.valid_to`;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** An order of people. */
interface PeopleOrder {
  readonly by: PeopleSort;
  readonly descending: boolean;
}

/** What people can be sorted by. */
const PEOPLE_SORTS = [
  'person',
  'email',
  'id',
  'team',
  'credits',
  'sessions',
  'commits',
  'days',
  'last',
] as const;
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

/** The order that a URL asks for; the default if it names no column. */
export function peopleOrder(
  sort: { readonly by: string; readonly descending: boolean } | undefined,
): PeopleOrder {
  const by = PEOPLE_SORTS.find((name) => name === sort?.by);
  return by === undefined || sort === undefined ? DEFAULT_ORDER : { by, descending: sort.descending };
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
    case 'email':
      return person.email === null ? null : folded(person.email);
    case 'id':
      return person.userId;
    case 'team':
      return person.team === null ? null : folded(person.team);
    case 'days':
      return person.activeDays.value;
    case 'last':
      return person.lastActiveOn;
    default:
      return person.numbers[by].value;
  }
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

const NUMBERS = ['credits', 'sessions', 'commits'] as const satisfies readonly PersonNumber[];

/**
 * A row per person, each with a link to the page of the person.
 * @param options `among`: the list that the people are a part of, by which columns are chosen; with `order`, columns are
 * sorted by links.
 */
export function peopleTable(
  people: readonly ActivePerson[],
  { among = people, order }: { among?: readonly ActivePerson[]; order?: PeopleOrder } = {},
): Table {
  // An address has a column of its own only where names are shown in its place.
  const hasNames = among.some(({ name }) => name !== null);
  const hasEmails = among.some(({ email }) => email !== null);
  const columns: Column[] = [
    { title: 'Person', sort: 'person' },
    ...(hasNames && hasEmails ? [{ title: 'Email', sort: 'email', isSpare: true }] : []),
    ...(hasNames || hasEmails ? [{ title: 'ID', sort: 'id', isSpare: true }] : []),
    { title: 'Team', sort: 'team' },
    ...NUMBERS.map((name) => ({ title: PERSON_NUMBERS[name].title, align: 'end' as const, sort: name })),
    { title: 'Active days', align: 'end', sort: 'days' },
    { title: 'Last active', align: 'end', sort: 'last' },
  ];
  return {
    columns: order === undefined ? columns.map(({ sort: _, ...column }) => column) : columns,
    rows: people.map((person) => [
      linkTo('/people', person.userId, shownName(person)),
      ...(hasNames && hasEmails ? [textOr(person.email)] : []),
      ...(hasNames || hasEmails ? [codeCell(person.userId)] : []),
      person.team === null ? muted(UNASSIGNED) : linkTo('/teams', person.team, person.team),
      ...NUMBERS.map((name) => person.numbers[name]),
      person.activeDays,
      { kind: 'text' as const, text: person.lastActiveOn },
    ]),
    isDense: true,
    ...(order === undefined ? {} : { sorting: order }),
  };
}

function textOr(text: string | null): Cell {
  return text === null ? muted('–') : { kind: 'text', text };
}

function codeCell(text: string): Cell {
  return { kind: 'text', text, isCode: true };
}

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}
