import type { DayDialect } from './day-dialect.ts';

// `src/warehouse/rollups/standing.ts` has the same rule.
/** Selects the days of `users` that a rollup was not computed from: their content differs, is new, or is gone. */
function staleDays(rollup: 'weekly' | 'monthly' | 'users', { ledgerDay }: DayDialect): string {
  return `SELECT org_id, ${ledgerDay('date')} AS date FROM (
    SELECT org_id, date, content_sha256 FROM export_units WHERE stream = 'users' AND content_sha256 IS NOT NULL
    UNION ALL
    SELECT org_id, date, content_sha256 FROM rollup_marks WHERE rollup = '${rollup}' AND date <> ''
  ) compared
  GROUP BY org_id, date
  HAVING COUNT(*) <> 2 OR MIN(content_sha256) <> MAX(content_sha256)`;
}

/** The weeks or months of a view. */
export interface RollupPeriod {
  readonly rollup: 'weekly' | 'monthly';
  /** The week or month of a day, and the first and last day of one. */
  readonly of: (day: string) => string;
  readonly first: (period: string) => string;
  readonly last: (period: string) => string;
}

/** The months of a view. */
export function monthsIn(days: DayDialect): RollupPeriod {
  return { rollup: 'monthly', of: days.monthOf, first: days.startOfMonth, last: days.endOfMonth };
}

/** The weeks of a view. */
export function weeksIn(days: DayDialect): RollupPeriod {
  return { rollup: 'weekly', of: days.weekOf, first: (monday) => monday, last: days.endOfWeek };
}

/**
 * Common tables about rollups that are not current: `stale_periods`, the weeks or months with such days, and `stale_orgs`,
 * the organizations that have one, or whose table `users` has one. A view reads rollups only of the other organizations.
 */
export function stalePeriods(days: DayDialect, { rollup, of }: RollupPeriod): string {
  return `stale_periods AS (
  SELECT DISTINCT org_id, ${of('date')} AS period FROM (${staleDays(rollup, days)}) d
), stale_orgs AS (
  SELECT org_id FROM stale_periods
  UNION
  SELECT org_id FROM (${staleDays('users', days)}) d
)`;
}

/** Selects the rows `r` of a table by week or month that are current, of organizations in `stale_orgs`. */
export function currentRowsOfStale(columns: string, table: string, periodColumn: string): string {
  return `SELECT ${columns}
  FROM stale_orgs o
  CROSS JOIN ${table} r
  LEFT JOIN stale_periods s ON s.org_id = r.org_id AND s.period = r.${periodColumn}
  WHERE r.org_id = o.org_id AND s.org_id IS NULL`;
}

/** Selects from the rows `u` of users on the days of `stale_periods`. The periods come first, so that the others are not read. */
export function daysOfStalePeriods(columns: string, { first, last }: RollupPeriod): string {
  return `SELECT ${columns}
  FROM stale_periods s
  CROSS JOIN user_daily u
  WHERE u.org_id = s.org_id AND u.date BETWEEN ${first('s.period')} AND ${last('s.period')}`;
}

/** The condition that the organization of a row is not in `stale_orgs`. */
export function isCurrent(orgId: string): string {
  return `${orgId} NOT IN (SELECT org_id FROM stale_orgs)`;
}

/** {@link stalePeriods}, and `seen`: the users with a row in each week or month of the organizations in `stale_orgs`. */
export function seenUsers(days: DayDialect, period: RollupPeriod): string {
  const [table, column] =
    period.rollup === 'weekly' ? ['user_weekly', 'week_start'] : ['user_monthly', 'month'];
  return `${stalePeriods(days, period)}, seen AS (
  ${currentRowsOfStale(`r.org_id, r.${column} AS period, r.user_id`, table, column)}
  UNION ALL
  ${daysOfStalePeriods('DISTINCT s.org_id, s.period, u.user_id', period)}
)`;
}

/** Counts the users of `seen` in their first week or month. */
export const NEW_OF_SEEN = `SELECT org_id, period, COUNT(*) AS users
  FROM (SELECT org_id, MIN(period) AS period FROM seen GROUP BY org_id, user_id) f
  GROUP BY org_id, period`;
