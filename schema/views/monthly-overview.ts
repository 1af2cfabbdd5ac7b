import { integer, key, orgColumn, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';
import { type DayDialect, daysInPostgres, daysInSqlite, todaySelect } from './day-dialect.ts';
import { type Period, periodColumns, periodNumbers, periodSelect } from './period-overview.ts';

const monthIn = (days: DayDialect): Period => ({
  of: days.monthOf,
  first: days.startOfMonth('n.period'),
  last: days.endOfMonth('n.period'),
});

// People are counted on the last day of the month, or today in the current one. Who is in user_teams on a day is licensed
// on it.
const people = (days: DayDialect) => `
now AS (
  ${todaySelect(days)}
), ends AS (
  SELECT n.org_id, n.period AS month, ${days.earlier(days.endOfMonth('n.period'), 'now.today')} AS last_day
  FROM numbers n JOIN now ON now.org_id = n.org_id
), licensed AS (
  SELECT e.org_id, e.month, COUNT(*) AS people
  FROM ends e
  JOIN people p ON p.org_id = e.org_id AND p.valid_from <= e.last_day AND (p.valid_to IS NULL OR e.last_day <= p.valid_to)
  GROUP BY e.org_id, e.month
), busy AS (
  SELECT e.org_id, e.month, COUNT(DISTINCT t.person) AS people
  FROM ends e
  JOIN user_monthly m ON m.org_id = e.org_id AND m.month = e.month
  JOIN user_teams t ON t.org_id = m.org_id AND t.user_id = m.user_id AND e.last_day BETWEEN t.valid_from AND t.valid_to
  GROUP BY e.org_id, e.month
)`;

const hasPeople = 'EXISTS (SELECT 1 FROM people p WHERE p.org_id = n.org_id)';

const select = (cast: Cast, days: DayDialect, flags: readonly [yes: string, no: string]) => `
WITH ${periodNumbers(days, monthIn(days))},${people(days)}
SELECT n.org_id, ${cast('n.period', 'TEXT')} AS month,
  ${cast(`CASE WHEN ${hasPeople} THEN COALESCE(l.people, 0) END`, 'INTEGER')} AS licensed_users,
  ${cast(`CASE WHEN ${hasPeople} THEN COALESCE(l.people, 0) - COALESCE(b.people, 0) END`, 'INTEGER')} AS inactive_users,
  ${periodSelect(cast, days, { period: monthIn(days), active: 'o.active_users', fresh: 'o.new_users', flags })}
FROM numbers n
LEFT JOIN org_monthly o ON o.org_id = n.org_id AND o.month = ${days.asKey('n.period')}
LEFT JOIN licensed l ON l.org_id = n.org_id AND l.month = n.period
LEFT JOIN busy b ON b.org_id = n.org_id AND b.month = n.period
`;

export const monthlyOverview = {
  name: 'monthly_overview',
  doc: 'The main numbers of each month: one row per organization and month of which a day was ever pulled. Users are counted once per month, from rollups, which may lag behind the days until the next run.',
  columns: {
    ...orgColumn,
    month: key('month, YYYY-MM'),
    licensed_users: integer(
      'number of people in `people` on the last day of the month, or today in the current one; NULL while `people` is empty',
    ),
    inactive_users: integer(
      'number of licensed users without a row in the month; NULL while `people` is empty',
    ),
    ...periodColumns,
  },
  select: {
    sqlite: select(castInSqlite, daysInSqlite, ['1', '0']),
    postgres: select(plain, daysInPostgres, ['true', 'false']),
  },
} satisfies View;
