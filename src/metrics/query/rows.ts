import type { Dimension, Term } from '../../../schema/metrics.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { calendarOf } from './buckets.ts';
import { columnName, groupsOf, needsTeam, type Plan, teamConditions } from './plan.ts';
import type { NamedQuery } from './select.ts';
import type { RowKind } from './terms.ts';

/** The rows `r` that a metric is computed from, and the expression of each dimension over them. */
export interface Rows {
  readonly kind: RowKind;
  /** Subqueries that `from` uses. */
  readonly named: readonly NamedQuery[];
  readonly from: readonly SQL[];
  readonly where: readonly SQL[];
  /** The team of a row, in questions that need it. */
  readonly team: SQL;
  /** The bucket of a row; undefined if the period is one bucket. */
  readonly bucket: SQL | undefined;
}

/** A dimension of grouped rows: what to group by, and the column of the result. */
export interface Group {
  readonly expression: SQL;
  readonly column: SQL;
}

/** The rows of the source in the period, with the filters of the question. */
export function dailyRows(plan: Plan, terms: readonly Term[]): Rows {
  const { phrases, source, orgId, from, until, grain, user } = plan;
  const table = sql.raw(source.table.name);
  const withPrice = terms.some(({ kind }) => kind === 'cost');
  const usesDays = grain === 'week' || grain === 'month' || withPrice || user !== undefined;
  return {
    kind: 'daily',
    named: usesDays && grain === undefined && !withPrice ? [calendarOf(plan)] : [],
    from: [
      // The days come first, so that the rows of one day after the other, or of one user on each, are found by the key.
      ...(usesDays ? [sql`days d`, sql`CROSS JOIN ${table} r`] : [rowsBetween(plan, table, from, until)]),
      ...teamJoin(plan),
    ],
    where: [
      sql`r.org_id = ${orgId}`,
      usesDays ? sql`r.date = d.date` : sql`r.date BETWEEN ${phrases.day(from)} AND ${phrases.day(until)}`,
      ...filterConditions(plan),
    ],
    team: sql`t.team`,
    bucket: bucketOf(plan),
  };
}

/**
 * The rows `r` of a table between two days. With teams, PostgreSQL must read them first: from the users of a team, it would read
 * the key of the whole time for each.
 */
export function rowsBetween(plan: Plan, table: SQL, from: UtcDay, until: UtcDay): SQL {
  if (!needsTeam(plan)) return sql`${table} r`;
  const { phrases, orgId } = plan;
  return sql`(
    SELECT * FROM ${table}
    WHERE org_id = ${orgId} AND date BETWEEN ${phrases.day(from)} AND ${phrases.day(until)}${phrases.unmerged}
  ) r`;
}

/** The first row ever of each user whose first row is in the period. */
export function firstRows(plan: Plan): Rows {
  const { phrases, orgId, from, until, grain, rollups } = plan;
  const firstDays = rollups.has('users')
    ? sql`  SELECT user_id, first_active_on AS date
  FROM users
  WHERE org_id = ${orgId}`
    : sql`  SELECT user_id, MIN(date) AS date
  FROM user_daily
  WHERE org_id = ${orgId}
  GROUP BY user_id`;
  const days = grain === 'week' || grain === 'month' ? [sql`JOIN days d ON d.date = n.date`] : [];
  return {
    kind: 'daily',
    named: [{ name: 'first_days', body: firstDays }],
    from: [
      sql`first_days n`,
      sql`JOIN user_daily r ON r.org_id = ${orgId} AND r.user_id = n.user_id AND r.date = n.date`,
      ...days,
      ...teamJoin(plan),
    ],
    where: [sql`n.date BETWEEN ${phrases.day(from)} AND ${phrases.day(until)}`, ...filterConditions(plan)],
    team: sql`t.team`,
    bucket: bucketOf(plan),
  };
}

/** The conditions on the user `r` and the team `t` of a row; none without a filter. */
export function filterConditions(plan: Plan): SQL[] {
  return [...userConditions(plan), ...(needsTeam(plan) ? teamConditions(plan, sql`t.team`) : [])];
}

/** The conditions on the user of a row; none without a filter. */
export function userConditions({ user }: Plan): SQL[] {
  return user === undefined ? [] : [sql`r.user_id = ${user}`];
}

/** The groups of the rows: their bucket, then the other dimensions of the question. */
export function groupsOfRows(plan: Plan, { bucket, team }: Rows): Group[] {
  const { grain } = plan;
  const own = groupsOf(plan).map((dimension) => ({
    expression: dimension === 'team' ? team : expressionOf(plan, dimension),
    column: columnName(dimension),
  }));
  if (bucket === undefined || grain === undefined) return own;
  return [{ expression: bucket, column: columnName(grain) }, ...own];
}

function bucketOf({ grain }: Plan): SQL | undefined {
  if (grain === undefined) return undefined;
  return sql.raw(grain === 'date' ? 'r.date' : `d.${grain}`);
}

/** The team `t` of each row `r` on a day, if the question needs it. */
export function teamJoin(plan: Plan, day: SQL = sql`r.date`): SQL[] {
  if (!needsTeam(plan)) return [];
  return [
    sql`LEFT JOIN user_teams t ON t.org_id = r.org_id AND t.user_id = r.user_id
    AND ${day} BETWEEN t.valid_from AND t.valid_to`,
  ];
}

function expressionOf({ source }: Plan, dimension: Dimension): SQL {
  if (source.hasUsers && dimension === 'user') return sql`r.user_id`;
  const [first, ...rest] = source.columns[dimension] ?? [];
  if (first === undefined) throw new TypeError(`${source.table.name} has no dimension ${dimension}`);
  const parts = rest.map((column) => `CASE WHEN r.${column} <> '' THEN ' / ' || r.${column} ELSE '' END`);
  return sql.raw([`r.${first}`, ...parts].join(' || '));
}
