import { date, flag, integer, key, label, orgColumn, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';
import { type DayDialect, daysInPostgres, daysInSqlite, todaySelect } from './day-dialect.ts';

/** Someone without a row on this many days, of which today is the last, is inactive. */
const INACTIVE_DAYS = 30;

// Of the users of one person only the one who was active last counts. A user without a person counts alone.
const known = `
  SELECT u.org_id, u.user_id, u.user_email, u.last_active_on, n.today, t.person,
    ROW_NUMBER() OVER (
      PARTITION BY u.org_id, t.person, CASE WHEN t.person IS NULL THEN u.user_id END
      ORDER BY u.last_active_on DESC, u.user_id
    ) AS recency
  FROM users u
  JOIN now n ON n.org_id = u.org_id
  LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id AND n.today BETWEEN t.valid_from AND t.valid_to`;

// People and users are put together by grouping. With a join, PostgreSQL took seconds in the first run of benchmark 15.
const everyone = ({ asKey }: DayDialect) => `
  SELECT p.org_id, p.person, p.name, p.team, NULL AS user_id, NULL AS user_email, NULL AS last_active_on, n.today, 1 AS is_licensed
  FROM people p
  JOIN now n ON n.org_id = p.org_id AND p.valid_from <= n.today AND (p.valid_to IS NULL OR n.today <= p.valid_to)
  UNION ALL
  SELECT org_id, COALESCE(${asKey('person')}, user_id), NULL, NULL, user_id, user_email, last_active_on, today, 0
  FROM known
  WHERE recency = 1`;

const select = (cast: Cast, days: DayDialect, [yes, no]: readonly [yes: string, no: string]) => `
WITH now AS (
  ${todaySelect(days)}
), known AS (${known}
), everyone AS (${everyone(days)}
), grouped AS (
  SELECT org_id, person, MAX(name) AS name, MAX(team) AS team, MAX(user_id) AS user_id, MAX(user_email) AS user_email,
    MAX(last_active_on) AS last_active_on, today, MAX(is_licensed) AS is_licensed
  FROM everyone
  GROUP BY org_id, person, today
), idle AS (
  SELECT grouped.*, ${days.daysBetween('last_active_on', 'today')} AS days_inactive FROM grouped
)
SELECT org_id, ${cast('person', 'TEXT')} AS person, ${cast('name', 'TEXT')} AS name, ${cast('team', 'TEXT')} AS team,
  ${cast('user_id', 'TEXT')} AS user_id, ${cast('user_email', 'TEXT')} AS user_email,
  ${cast('last_active_on', 'TEXT')} AS last_active_on, ${cast('days_inactive', 'INTEGER')} AS days_inactive,
  ${cast(`CASE WHEN is_licensed = 1 THEN ${yes} ELSE ${no} END`, 'INTEGER')} AS is_licensed
FROM idle
WHERE days_inactive IS NULL OR days_inactive >= ${INACTIVE_DAYS}
`;

export const inactiveUsers = {
  name: 'inactive_users',
  doc:
    `Licensed people and known users without activity in the ${INACTIVE_DAYS} days that end today: one row per person of ` +
    '`people`, and one per user who is not in `people`. A person with several users is inactive only if all are. ' +
    'Today is the newest loaded day. Users and teams come from rollups, which may lag behind until the next run.',
  columns: {
    ...orgColumn,
    person: key('the person in `people`; the user ID of a user who is not in `people`'),
    name: label('name of the person; NULL unless DAYWALK_EMAILS is keep'),
    team: label('team of today; NULL without one'),
    user_id: label(
      'ID of the user; if the person has several, the one who was active last; NULL if none ever was',
    ),
    user_email: label('email address of that user'),
    last_active_on: date('last day with a row; NULL if there never was one'),
    days_inactive: integer('number of days since then; NULL if there never was a row'),
    is_licensed: flag('1 for the people of `people` today, 0 for other users'),
  },
  select: {
    sqlite: select(castInSqlite, daysInSqlite, ['1', '0']),
    postgres: select(plain, daysInPostgres, ['true', 'false']),
  },
} satisfies View;
