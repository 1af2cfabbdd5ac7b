import { type SQL, sql } from '../../../schema/query.ts';
import { teamsInPlaceOfTable } from '../../metrics/query/rows.ts';
import { type NamedQuery, PHRASES, selectSql, withSql } from '../../metrics/query/select.ts';
import { cellOf, type NumberFormat, noNumber, type ShownNumber } from '../page/numbers.ts';
import type { Filters } from './filters.ts';
import type { PageReader } from './reader.ts';
import type { MetricResult, Result } from './result.ts';

/** The numbers of a person, by the name that `?sort=` takes. */
export const PERSON_NUMBERS = {
  credits: { metric: 'billable_tokens', title: 'Credits', format: 'compact' },
  sessions: { metric: 'sessions', title: 'Sessions', format: 'count' },
  commits: { metric: 'git_commits', title: 'Commits', format: 'count' },
} as const satisfies Record<string, { metric: string; title: string; format: NumberFormat }>;

export type PersonNumber = keyof typeof PERSON_NUMBERS;

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
    sortable: PHRASES[warehouse.dialect].sortable,
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
  { sortable, teams }: { sortable: (text: SQL) => SQL; teams: readonly NamedQuery[] },
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
        ...(team === undefined ? [] : [team === null ? sql`t.team IS NULL` : sql`t.team = ${team}`]),
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
