import { day, orgColumn, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';
import { type DayDialect, daysInPostgres, daysInSqlite } from './day-dialect.ts';
import { type Period, periodColumns, periodNumbers, periodSelect } from './period-overview.ts';

const weekIn = (days: DayDialect): Period => ({
  of: days.weekOf,
  first: 'n.period',
  last: days.endOfWeek('n.period'),
});

const select = (cast: Cast, days: DayDialect, flags: readonly [yes: string, no: string]) => `
WITH ${periodNumbers(days, weekIn(days))}, active AS (
  SELECT org_id, week_start, COUNT(*) AS users FROM user_weekly GROUP BY org_id, week_start
), fresh AS (
  SELECT org_id, ${days.weekOf('first_active_on')} AS week_start, COUNT(*) AS users
  FROM users GROUP BY org_id, ${days.weekOf('first_active_on')}
)
SELECT n.org_id, ${cast('n.period', 'TEXT')} AS week_start,
  ${periodSelect(cast, days, { period: weekIn(days), active: 'a.users', fresh: 'f.users', flags })}
FROM numbers n
LEFT JOIN active a ON a.org_id = n.org_id AND a.week_start = n.period
LEFT JOIN fresh f ON f.org_id = n.org_id AND f.week_start = n.period
`;

export const weeklyOverview = {
  name: 'weekly_overview',
  doc: 'The main numbers of each ISO week: one row per organization and week of which a day was ever pulled. Users are counted once per week, from rollups, which may lag behind the days until the next run.',
  columns: { ...orgColumn, week_start: day('Monday of the week'), ...periodColumns },
  select: {
    sqlite: select(castInSqlite, daysInSqlite, ['1', '0']),
    postgres: select(plain, daysInPostgres, ['true', 'false']),
  },
} satisfies View;
