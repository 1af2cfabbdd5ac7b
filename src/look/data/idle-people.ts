import { sql } from '../../../schema/query.ts';
import { teamsInPlaceOfTable } from '../../metrics/query/rows.ts';
import { PHRASES, selectSql, withSql } from '../../metrics/query/select.ts';
import { currentRollups } from '../../warehouse/rollups/current.ts';
import type { PageReader } from './reader.ts';
import type { Result } from './result.ts';

/** Someone with a seat on the last day of the period, and without activity in it. */
export interface IdlePerson {
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
export async function readIdlePeople(
  reader: PageReader,
): Promise<{ readonly people: readonly IdlePerson[]; readonly result: Result }> {
  const { warehouse, filters } = reader;
  const { orgId, from, until, team } = filters;
  const { sortable } = PHRASES[warehouse.dialect];
  const isOnLastDay = sql`t.org_id = ${orgId} AND ${until} BETWEEN t.valid_from AND t.valid_to`;
  const active = selectSql(
    {
      columns: [sql`DISTINCT t.person`],
      from: [sql`user_daily r`, sql`JOIN user_teams t ON ${isOnLastDay} AND t.user_id = r.user_id`],
      where: [sql`r.org_id = ${orgId}`, sql`r.date BETWEEN ${from} AND ${until}`],
    },
    '  ',
  );
  // The table has no index by person. SQLite makes one for a subquery that it keeps.
  const usersThen = selectSql(
    { columns: [sql`t.person`, sql`t.user_id`], from: [sql`user_teams t`], where: [isOnLastDay] },
    '  ',
  );
  const rollups = await currentRollups(warehouse, orgId, from, until);
  const lastDays = rollups.has('users')
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
      [
        ...teams,
        { name: 'active_people', body: active },
        { name: 'users_then', body: usersThen, isMaterialized: true },
        { name: 'last_days', body: lastDays },
      ],
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
  // The sort keeps people of one day in the order of their keys.
  return { people: people.toSorted((a, b) => compare(a.lastActiveOn ?? '', b.lastActiveOn ?? '')), result };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
