import { sql } from '../../../schema/query.ts';
import { compareText } from '../../core/json.ts';
import { type NamedQuery, PHRASES, selectSql, teamsInPlaceOfTable, withSql } from '../../metrics/index.ts';
import { PSEUDONYM_LIKE } from '../../privacy/index.ts';
import { readableRollups, UNASSIGNED } from '../../rollups/index.ts';
import {
  muted,
  peopleOrder,
  readActivePeople,
  searchPeople,
  slicePeople,
  sortPeople,
} from '../figures/active-people.ts';
import { doubtedDays, standing } from '../figures/opening.ts';
import { peopleTable, readPageOfPeople } from '../figures/people-list.ts';
import { activityOfUsers } from '../figures/user-weeks.ts';
import { cellOf, formatNumber, type Result, type ShownNumber, shareOf, sumOf } from '../numbers.ts';
import { type Cell, type Figure, linkTo, orNotKept, type Page, type Phrase } from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';
import { periodBefore } from '../time-spans.ts';
import { nounFor, periodWords } from '../words.ts';
import type { PageKind, PageParams } from './page-kind.ts';

const ROWS_PER_PAGE = 100;

/** Asked for in one statement. */
const MAIN = ['billable_tokens', 'active_users'];

/** Everybody with activity, to be searched and sorted; and everybody with a seat and without activity. */
export const people: PageKind = {
  path: '/people',
  name: 'People',
  async build(reader, params) {
    const total = await reader.ask({ metric: 'billable_tokens', title: 'Main numbers', together: MAIN });
    const credits = cellOf(total, 0, 'compact', { why: 'no day of the period is stored' });
    const { figure, page, pages, top } = await listOf(reader, params, credits);
    const idle = await readIdlePeople(reader);
    return {
      name: 'People',
      heading: 'People',
      sentence: await sentenceOf(reader, { credits, top, idle }),
      sections: [figure, idlePeople(reader.filters, idle)],
      isList: true,
      search: {
        label: 'people by name, email address, ID or team',
        example: 'Name, address, ID or team',
        text: params.search ?? '',
      },
      pager: { page, pages },
      basis: figure.results[0]?.basis,
    } satisfies Page;
  },
};

async function listOf(
  reader: PageReader,
  { search = '', sort, page = 1 }: PageParams,
  total: ShownNumber,
): Promise<{
  readonly figure: Figure;
  readonly page: number;
  readonly pages: number;
  /** The credits of those who used most. */
  readonly top: readonly ShownNumber[];
}> {
  const { people: all, results } = await readActivePeople(reader, { numbers: ['credits'], isCompared: true });
  const order = peopleOrder(sort);
  const found = sortPeople(searchPeople(all, search), order);
  const slice = slicePeople(found, page, ROWS_PER_PAGE);
  const about = await readPageOfPeople(reader, slice.people, total);
  const first = (slice.page - 1) * ROWS_PER_PAGE + 1;
  const figure: Figure = {
    kind: 'figure',
    id: 'people',
    title: 'Active people',
    hidesTitle: true,
    subtitle: subtitleOf(reader.filters, { first, shown: slice.people.length, found: found.length }),
    table: peopleTable(slice.people, { page: about, order, first }),
    results: [...results, ...about.results],
    notes: [
      ...(about.weeks === null
        ? []
        : [
            [
              `Weeks are those of ${periodWords(about.weeks)}; the highest bar is the largest week of the person.`,
            ],
          ]),
      ...(all.some(({ team }) => team === null)
        ? [['Who is unassigned has no team: `daywalk people missing` lists them.']]
        : []),
      [
        'The team is that of the last active day in the period; weeks and models are those of the person, whatever the team.',
      ],
    ],
    empty: emptyText(search, { all: all.length, found: found.length }),
  };
  const most = sortPeople(all, peopleOrder(undefined)).slice(0, TOP);
  const top = all.length > TOP ? most.flatMap(({ numbers }) => numbers.credits ?? []) : [];
  return { figure, page: slice.page, pages: slice.pages, top };
}

/** Whose share of the credits the sentence names. */
const TOP = 10;

/** `1 to 100 of 213, against 4 to 26 October`. */
function subtitleOf(
  filters: Filters,
  { first, shown, found }: { first: number; shown: number; found: number },
): string {
  const before = periodBefore(filters);
  const against = before === null ? '' : `, against ${periodWords(before, filters.until)}`;
  const count = (number: number) => formatNumber(number, 'count');
  return `${shown === 0 ? 'none' : `${count(first)} to ${count(first + shown - 1)} of ${count(found)}`}${against}`;
}

function emptyText(search: string, { all, found }: { all: number; found: number }): string | undefined {
  if (all === 0) return 'Nobody was active in this period.';
  return found === 0 ? `Nobody’s ID, email address, name or team contains “${search.trim()}”.` : undefined;
}

/** `1 to 23 November: 213 people, 602.6 M credits; the first ten used 26 %.` */
async function sentenceOf(
  reader: PageReader,
  { credits, top, idle }: { credits: ShownNumber; top: readonly ShownNumber[]; idle: IdlePeople },
): Promise<Phrase> {
  const now = await reader.ask({ metric: 'active_users', title: 'Main numbers', together: MAIN });
  const active = cellOf(now, 0, 'count', { why: 'no day of the period is stored' });
  if (active.value === null)
    return [orNotKept(now, 'No day of this period is stored, so nobody is known to have been active.')];
  return [
    `${periodName(reader.filters)}: `,
    { kind: 'strong', parts: [active, nounFor(active, ' person', ' people')] },
    ', ',
    credits,
    nounFor(credits, ' credit', ' credits'),
    ...(top.length === 0 ? [] : ['; the first ten used ', shareOf(sumOf(top, 'compact'), credits)]),
    '. ',
    ...(idle.seats.value === null
      ? ['Nobody is known to have a seat.']
      : [
          {
            kind: 'strong',
            parts: [rowsOf(idle.result), ' of ', idle.seats, nounFor(idle.seats, ' seat', ' seats')],
          } as const,
          ' had no activity.',
        ]),
    // Who was active on a missing day only looks inactive, so the sentence names such days.
    ...standing(now, await doubtedDays(reader)),
  ];
}

/** A period at the beginning of a sentence. */
function periodName(filters: Filters): string {
  const words = periodWords(filters);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function rowsOf({ id, rows }: Result): ShownNumber {
  return { kind: 'number', value: rows.length, format: 'count', formula: { op: 'rows', result: id } };
}

/** More rows than this are not read; the page's query has all of them. */
const IDLE_ROWS_MAX = 100;

/** The people with a seat and without activity. It names people, so it is for managers only. */
function idlePeople(filters: Filters, { people, seats, result, seatsResult }: IdlePeople): Figure {
  const left = people.length - IDLE_ROWS_MAX;
  return {
    kind: 'figure',
    id: 'seats-without-activity',
    title: 'Seats without activity',
    subtitle: `People listed on the last day, without a row in ${periodWords(filters)}; the longest idle first`,
    table: {
      columns: [{ title: 'Person' }, { title: 'Team' }, { title: 'Last active', align: 'end' }],
      rows: people
        .slice(0, IDLE_ROWS_MAX)
        .map(({ person, name, team, userId, lastActiveOn }) => [
          userId === null ? plain(name ?? person) : linkTo('/people', userId, name ?? person),
          team === null ? muted(UNASSIGNED) : linkTo('/teams', team, team),
          lastActiveOn === null ? muted('never') : plain(lastActiveOn),
        ]),
    },
    isTableFolded: people.length > 12,
    results: [result, seatsResult],
    notes: left > 0 ? [[`The table has the first ${IDLE_ROWS_MAX} people; the query has all of them.`]] : [],
    empty: noIdleText(seats.value !== null, people.length),
  };
}

function noIdleText(isKnown: boolean, people: number): string | undefined {
  if (!isKnown) {
    return 'Nobody is known to have a seat. Load the people: `daywalk people load people.csv`';
  }
  return people === 0 ? 'Everybody who has a seat was active.' : undefined;
}

function plain(text: string): Cell {
  return { kind: 'text', text };
}

/** Someone with a seat on the last day of the period, and without activity in it. */
interface IdlePerson {
  /** User ID or email address, as in `people`. */
  readonly person: string;
  readonly name: string | null;
  readonly team: string | null;
  /** A user of the person; null if there never was one. */
  readonly userId: string | null;
  /** The last day with a row, whatever the period; null if there never was one. */
  readonly lastActiveOn: string | null;
}

interface IdlePeople {
  readonly people: readonly IdlePerson[];
  /** One row for each of them. */
  readonly result: Result;
  /** Null if nobody is known to have a seat. */
  readonly seats: ShownNumber;
  readonly seatsResult: Result;
}

/** The people whom the metric `inactive_users` counts: first those who never were active, then the longest idle. */
async function readIdlePeople(reader: PageReader): Promise<IdlePeople> {
  const { warehouse, filters } = reader;
  const { orgId, from, until, team } = filters;
  const { sortable } = PHRASES[warehouse.dialect];
  const rollups = await readableRollups(warehouse, orgId, from, until);
  const lastDays = rollups.users
    ? sql`  SELECT user_id, last_active_on FROM users WHERE org_id = ${orgId}`
    : sql`  SELECT user_id, MAX(date) AS last_active_on FROM user_daily WHERE org_id = ${orgId} GROUP BY user_id`;
  const main = selectSql({
    columns: [
      sql`p.person`,
      sql`p.name`,
      sql`p.team`,
      sql`MAX(t.user_id) AS user_id`,
      sql`MAX(l.last_active_on) AS last_active_on`,
    ],
    from: [
      sql`people p`,
      sql`LEFT JOIN users_then t ON t.person = p.person`,
      sql`LEFT JOIN last_days l ON l.user_id = t.user_id`,
    ],
    where: [
      sql`p.org_id = ${orgId}`,
      // People without a name are in no list.
      sql`p.person NOT LIKE ${PSEUDONYM_LIKE}`,
      sql`p.valid_from <= ${until}`,
      sql`(p.valid_to IS NULL OR p.valid_to >= ${until})`,
      // As a join, SQLite would read all of the active people for each person.
      sql`p.person NOT IN (SELECT person FROM active_people)`,
      ...(team === undefined ? [] : [team === null ? sql`p.team IS NULL` : sql`p.team = ${team}`]),
    ],
    groupBy: [sql`p.person`, sql`p.name`, sql`p.team`],
    orderBy: [sortable(sql`p.person`)],
  });
  const teams = await teamsInPlaceOfTable(warehouse, orgId);
  const result = await reader.select({
    title: 'People without activity',
    query: withSql(
      [...teams, ...(await peopleOnLastDay(reader)), { name: 'last_days', body: lastDays }],
      main,
    ),
    streams: ['users'],
  });
  const people = result.rows.map((row) => ({
    person: String(row['person']),
    name: textOf(row['name']),
    team: textOf(row['team']),
    userId: textOf(row['user_id']),
    lastActiveOn: textOf(row['last_active_on']),
  }));
  const seatsResult = await reader.ask({ metric: 'licensed_users', title: 'Licensed people' });
  // The sort keeps people of one day in the order of their keys.
  return {
    people: people.toSorted((a, b) => compareText(a.lastActiveOn ?? '', b.lastActiveOn ?? '')),
    result,
    seats: cellOf(seatsResult, 0, 'count'),
    seatsResult,
  };
}

/** The people whose users have a row in the period, and the users of each person on its last day. */
async function peopleOnLastDay(reader: PageReader): Promise<readonly NamedQuery[]> {
  const { orgId, until } = reader.filters;
  const { common } = PHRASES[reader.warehouse.dialect];
  const isOnLastDay = sql`${until} BETWEEN t.valid_from AND t.valid_to`;
  const active = selectSql(
    {
      columns: [sql`DISTINCT t.person`],
      from: [
        sql`(SELECT DISTINCT user_id FROM activity) r`,
        sql`JOIN user_teams t ON t.org_id = ${orgId} AND ${isOnLastDay} AND t.user_id = r.user_id`,
      ],
    },
    '  ',
  );
  // The table has no index by person. SQLite makes one for a subquery that it keeps and takes for large.
  const usersThen = selectSql(
    {
      columns: [sql`t.person`, sql`t.user_id`],
      from: [sql`user_teams t`],
      where: [sql`${common(sql`t.org_id`)} = ${orgId}`, isOnLastDay],
    },
    '  ',
  );
  return [
    await activityOfUsers(reader),
    { name: 'active_people', body: active },
    { name: 'users_then', body: usersThen, isMaterialized: true },
  ];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
