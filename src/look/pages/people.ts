import { sql } from '../../../schema/query.ts';
import { compareText } from '../../core/json.ts';
import { type NamedQuery, PHRASES, selectSql, teamsInPlaceOfTable, withSql } from '../../metrics/index.ts';
import { PSEUDONYM_LIKE } from '../../privacy/index.ts';
import { readableRollups, UNASSIGNED } from '../../rollups/index.ts';
import {
  peopleOrder,
  peopleTable,
  readActivePeople,
  searchPeople,
  slicePeople,
  sortPeople,
} from '../figures/active-people.ts';
import { doubtedDays, standing } from '../figures/opening.ts';
import { cellOf, type Result } from '../numbers.ts';
import { type Cell, type Figure, linkTo, type Page, type Phrase } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind, PageParams } from './page-kind.ts';

const ROWS_PER_PAGE = 100;

/** Everybody with activity, to be searched and sorted; and everybody with a seat and without activity. */
export const people: PageKind = {
  path: '/people',
  name: 'People',
  async build(reader, params) {
    const { figure, page, pages } = await listOf(reader, params);
    return {
      name: 'People',
      heading: `People, ${periodHeading(reader.filters)}`,
      sentence: await sentenceOf(reader),
      sections: [figure, await idlePeople(reader)],
      search: { label: 'people by ID, email address, name or team', text: params.search ?? '' },
      pager: { page, pages },
      basis: figure.results[0]?.basis,
    } satisfies Page;
  },
};

async function listOf(reader: PageReader, { search = '', sort, page = 1 }: PageParams) {
  const { people: all, results } = await readActivePeople(reader);
  const order = peopleOrder(sort);
  const found = sortPeople(searchPeople(all, search), order);
  const slice = slicePeople(found, page, ROWS_PER_PAGE);
  const figure: Figure = {
    kind: 'figure',
    id: 'people',
    title: 'Active people',
    subtitle: subtitleOf(reader, found.length, slice),
    table: peopleTable(slice.people, { among: all, order }),
    tableIs: 'shown',
    results,
    notes: [...(await withoutTeam(reader)), ['The team is that of the last active day in the period.']],
    empty: emptyText(search, { all: all.length, found: found.length }),
  };
  return { figure, page: slice.page, pages: slice.pages };
}

function subtitleOf(
  { filters }: PageReader,
  found: number,
  { page, pages }: { page: number; pages: number },
) {
  const period = periodWords(filters);
  if (pages === 1) return period;
  const first = (page - 1) * ROWS_PER_PAGE + 1;
  return `${period}; ${first} to ${Math.min(found, page * ROWS_PER_PAGE)} of ${found}`;
}

function emptyText(search: string, { all, found }: { all: number; found: number }): string | undefined {
  if (all === 0) return 'Nobody was active in this period.';
  return found === 0 ? `Nobody’s ID, email address, name or team contains “${search.trim()}”.` : undefined;
}

async function sentenceOf(reader: PageReader): Promise<Phrase> {
  const numberOf = async (metric: string, title: string) =>
    cellOf(await reader.ask({ metric, title }), 0, 'count', { why: 'no day of the period is stored' });
  const active = await numberOf('active_users', 'Active people');
  // Who was active on a missing day only looks inactive, so the sentence names such days.
  const now = await reader.ask({ metric: 'active_users', title: 'Active people' });
  const fresh = await numberOf('new_users', 'New people');
  const seats = await numberOf('licensed_users', 'Licensed people');
  const idle = await numberOf('inactive_users', 'Licensed people without activity');
  if (active.value === null)
    return ['No day of this period is stored, so nobody is known to have been active.'];
  return [
    { kind: 'strong', parts: [active, nounFor(active, ' person', ' people')] },
    nounFor(active, ' was active, ', ' were active, '),
    fresh,
    ' of them for the first time',
    ...(idle.value === null
      ? ['. Nobody is known to have a seat, so it is not known who was not.']
      : [
          '; ',
          idle,
          ' of ',
          seats,
          nounFor(idle, ' licensed people was not.', ' licensed people were not.'),
        ]),
    ...standing(now, await doubtedDays(reader)),
  ];
}

/** Who has no team does not appear in any team's numbers. */
async function withoutTeam(reader: PageReader): Promise<readonly Phrase[]> {
  if (reader.filters.team !== undefined) return [];
  const result = await reader.ask({ metric: 'active_users', title: 'Active people by team', by: ['team'] });
  const row = result.rows.findIndex(({ team, value }) => team === null && value !== null && value > 0);
  if (row < 0) return [];
  const number = cellOf(result, row, 'count');
  return [
    [
      number,
      nounFor(number, ' active person has', ' active people have'),
      ' no team: `daywalk people missing` lists them.',
    ],
  ];
}

/** More rows than this are not read; the page's query has all of them. */
const IDLE_ROWS_MAX = 100;

/** The people with a seat and without activity. It names people, so it is for managers only. */
async function idlePeople(reader: PageReader): Promise<Figure> {
  const { filters } = reader;
  const seats = await reader.ask({ metric: 'licensed_users', title: 'Licensed people' });
  const { people, result } = await readIdlePeople(reader);
  const isKnown = (seats.rows[0]?.value ?? null) !== null;
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
    tableIs: people.length > 12 ? 'folded' : 'shown',
    results: [result, seats],
    notes: left > 0 ? [[`The table has the first ${IDLE_ROWS_MAX} people; the query has all of them.`]] : [],
    empty: noIdleText(isKnown, people.length),
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

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
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

/** The people whom the metric `inactive_users` counts: first those who never were active, then the longest idle. */
async function readIdlePeople(
  reader: PageReader,
): Promise<{ readonly people: readonly IdlePerson[]; readonly result: Result }> {
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
      // Erased people are in no list.
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
    query: withSql([...teams, ...peopleOnLastDay(reader), { name: 'last_days', body: lastDays }], main),
    streams: ['users'],
  });
  const people = result.rows.map((row) => ({
    person: String(row['person']),
    name: textOf(row['name']),
    team: textOf(row['team']),
    userId: textOf(row['user_id']),
    lastActiveOn: textOf(row['last_active_on']),
  }));
  // The sort keeps people of one day in the order of their keys.
  return {
    people: people.toSorted((a, b) => compareText(a.lastActiveOn ?? '', b.lastActiveOn ?? '')),
    result,
  };
}

/** The people whose users have a row in the period, and the users of each person on its last day. */
function peopleOnLastDay({ warehouse, filters }: PageReader): readonly NamedQuery[] {
  const { orgId, from, until } = filters;
  const { common } = PHRASES[warehouse.dialect];
  const isOnLastDay = sql`${until} BETWEEN t.valid_from AND t.valid_to`;
  const active = selectSql(
    {
      columns: [sql`DISTINCT t.person`],
      from: [
        sql`user_daily r`,
        sql`JOIN user_teams t ON t.org_id = ${orgId} AND ${isOnLastDay} AND t.user_id = r.user_id`,
      ],
      where: [sql`r.org_id = ${orgId}`, sql`r.date BETWEEN ${from} AND ${until}`],
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
    { name: 'active_people', body: active },
    { name: 'users_then', body: usersThen, isMaterialized: true },
  ];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
