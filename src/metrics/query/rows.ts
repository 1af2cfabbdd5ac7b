import type { Grain, Term } from '../../../schema/metrics/dictionary.ts';
import { type Dialect, listOf, pricedOn, type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { unchanging, type Warehouse } from '../../port/index.ts';
import { type TeamPeriod, teamChanges } from '../../rollups/index.ts';
import { storedUnit } from '../../units/index.ts';
import { expressionOf, filterConditions } from './conditions.ts';
import {
  columnName,
  conditionsOf,
  groupsOf,
  type NamedQuery,
  needsTeam,
  PHRASES,
  type Plan,
  selectSql,
} from './plan.ts';

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
interface Group {
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
      ...(usesDays ? [sql`days d`, sql`CROSS JOIN ${table} r`] : [rowsBetween(plan, from, until)]),
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
 * The rows `r` of the source between two days. With teams, PostgreSQL must read them first: from the users of a team, it would read
 * the key of the whole time for each.
 */
export function rowsBetween(plan: Plan, from: UtcDay, until: UtcDay): SQL {
  const table = sql.raw(plan.source.table.name);
  if (!needsTeam(plan)) return sql`${table} r`;
  const { phrases, orgId } = plan;
  return sql`(
    SELECT * FROM ${table}
    WHERE org_id = ${orgId} AND date BETWEEN ${phrases.day(from)} AND ${phrases.day(until)}${phrases.unmerged}
  ) r`;
}

/** The day of the first row ever of each user. */
export function firstDaysOf({ orgId, rollups }: Plan): NamedQuery {
  const body = rollups?.users
    ? sql`  SELECT org_id, user_id, first_active_on AS date
  FROM users
  WHERE org_id = ${orgId}`
    : sql`  SELECT org_id, user_id, MIN(date) AS date
  FROM user_daily
  WHERE org_id = ${orgId}
  GROUP BY org_id, user_id`;
  return { name: 'first_days', body };
}

/** The first row ever of each user whose first row is in the period. */
export function firstRows(plan: Plan): Rows {
  const { phrases, orgId, from, until, grain } = plan;
  const readsRows = [...groupsOf(plan), ...conditionsOf(plan), ...(plan.except?.by ?? [])].some(
    (dimension) => plan.source.columns[dimension] !== undefined,
  );
  const rows = readsRows
    ? [
        sql`first_days n`,
        sql`JOIN user_daily r ON r.org_id = ${orgId} AND r.user_id = n.user_id AND r.date = n.date`,
      ]
    : [sql`first_days r`];
  const days = grain === 'week' || grain === 'month' ? [sql`JOIN days d ON d.date = r.date`] : [];
  const first = sql.raw(readsRows ? 'n' : 'r');
  return {
    kind: 'daily',
    named: [firstDaysOf(plan)],
    from: [...rows, ...days, ...teamJoin(plan)],
    where: [
      sql`${first}.date BETWEEN ${phrases.day(from)} AND ${phrases.day(until)}`,
      ...filterConditions(plan),
    ],
    team: sql`t.team`,
    bucket: bucketOf(plan),
  };
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

/** The bucket of a row `r` with a date on the days `d`. */
export function bucketOf({ grain }: Plan): SQL | undefined {
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

/** The days of the period, each with its bucket, and with its price if `withPrice`. */
export function daysOf(plan: Plan, { withPrice }: { readonly withPrice: boolean }): NamedQuery[] {
  const { phrases, grain, orgId, from, until } = plan;
  const bucket = grain === undefined ? [] : bucketExpression(plan, grain);
  if (bucket.length === 0 && !withPrice) return [calendarOf(plan)];
  const prices = sql`LEFT JOIN prices p ON p.org_id = ${orgId}
    AND ${sql.raw(pricedOn('c.date'))}`;
  const days = selectSql(
    {
      columns: [sql`c.date`, ...bucket, ...(withPrice ? [sql`p.price_per_million`] : [])],
      from: [sql`calendar c`, ...(withPrice ? [prices] : [])],
    },
    '  ',
  );
  return [
    { name: 'calendar (date)', body: phrases.calendar('calendar', from, until) },
    { name: 'days', body: days },
  ];
}

/** The days of the period alone. */
export function calendarOf({ phrases, from, until }: Plan): NamedQuery {
  return { name: 'days (date)', body: phrases.calendar('days', from, until) };
}

function bucketExpression({ phrases }: Plan, grain: Grain): SQL[] {
  const day = sql`c.date`;
  if (grain === 'week') return [sql`${phrases.weekOf(day)} AS week`];
  return grain === 'month' ? [sql`${phrases.monthOf(day)} AS month`] : [];
}

/** The buckets of the period, each with its last day, and the numbers of its days that are stored, and that have expired. */
export function bucketsOf(plan: Plan): NamedQuery {
  const { phrases, grain, orgId, source, from, until } = plan;
  const unit = sql`e.org_id = ${orgId} AND e.stream = ${source.stream}`;
  const isStored = storedUnit('e');
  const counts = [
    sql`COUNT(CASE WHEN ${isStored} THEN 1 END) AS stored_days`,
    ...(source.stream === 'users'
      ? [sql`COUNT(CASE WHEN e.state = 'expired' THEN 1 END) AS expired_days`]
      : []),
  ];
  const body =
    grain === undefined
      ? selectSql(
          {
            columns: [sql`${phrases.day(until)} AS last_day`, ...counts],
            from: [sql`export_units e`],
            where: [unit, sql`e.date BETWEEN ${from} AND ${until}`],
          },
          '  ',
        )
      : selectSql(
          {
            columns: [sql`d.${sql.raw(grain)}`, sql`MAX(d.date) AS last_day`, ...counts],
            from: [
              sql`days d`,
              sql`LEFT JOIN export_units e ON ${unit}
    AND e.date = ${phrases.textOf(sql`d.date`)}`,
            ],
            groupBy: [sql`d.${sql.raw(grain)}`],
          },
          '  ',
        );
  return { name: 'buckets', body };
}

/** The rows that a term is computed over: those of a source, rollups with the same columns, or days of teams with their number of users. */
export type RowKind = 'daily' | 'rollup' | 'team days';

/** The value of a term over a group of the rows `r`, on the days `d`. */
export function termSql(term: Term, rows: RowKind): SQL {
  if (term.kind === 'users')
    return sql.raw(
      rows === 'team days' ? 'CAST(SUM(r.active_users) AS BIGINT)' : 'COUNT(DISTINCT r.user_id)',
    );
  // Rows of rollups have their price with them.
  if (term.kind === 'cost') return costSql(rows === 'daily' ? 'd' : 'r');
  const { columns, where } = term;
  const sums = columns.map((column) => {
    if (where === undefined) return sql.raw(`SUM(r.${column})`);
    if (rows !== 'daily') return sql.raw(`SUM(COALESCE(r.${where.rollupColumn}, 0))`);
    return sql`SUM(CASE WHEN r.${sql.raw(where.column)} = ${where.equals} THEN r.${sql.raw(column)} ELSE 0 END)`;
  });
  return sums.length === 1 ? sql.join(sums) : sql`(${sql.join(sums, sql.raw(' + '))})`;
}

/** The quotient of two terms. */
export function ratioSql(numerator: Term, denominator: Term, rows: RowKind): SQL {
  return sql`${termSql(numerator, rows)} / NULLIF(${termSql(denominator, rows)}, 0)`;
}

/** The columns of rows that a term reads. */
export function columnsOfTerm(term: Term, rows: RowKind): readonly string[] {
  if (term.kind === 'users') return [];
  if (term.kind === 'cost') return ['billable_tokens'];
  const { columns, where } = term;
  if (where === undefined) return columns;
  return rows === 'daily' ? [where.column, ...columns] : [where.rollupColumn];
}

// Without a price a row with tokens has no cost, and then the group has none. Rows without tokens cost nothing.
function costSql(priced: 'd' | 'r'): SQL {
  return sql.raw(`CASE
      WHEN COUNT(CASE WHEN r.billable_tokens <> 0 AND ${priced}.price_per_million IS NULL THEN 1 END) = 0
      THEN SUM(r.billable_tokens * COALESCE(${priced}.price_per_million, 0)) / 1000000
    END`);
}

const teamsOf = new WeakMap<object, Map<string, Promise<readonly NamedQuery[]>>>();

/**
 * The named query that hides the table `user_teams` from a query while the table is not current, so that the query reads
 * the teams that follow from the people and days of its snapshot. None where the table is current. Call inside the
 * snapshot of the query. The queries of a page share it.
 */
export async function teamsInPlaceOfTable(
  warehouse: Pick<Warehouse, 'dialect' | 'select'>,
  orgId: string,
): Promise<readonly NamedQuery[]> {
  if (!unchanging.has(warehouse)) return resolvedTeams(warehouse, orgId);
  const known = teamsOf.get(warehouse) ?? new Map<string, Promise<readonly NamedQuery[]>>();
  teamsOf.set(warehouse, known);
  const teams = known.get(orgId) ?? resolvedTeams(warehouse, orgId);
  known.set(orgId, teams);
  teams.catch(() => known.delete(orgId));
  return teams;
}

async function resolvedTeams(
  warehouse: Pick<Warehouse, 'dialect' | 'select'>,
  orgId: string,
): Promise<readonly NamedQuery[]> {
  const changes = await teamChanges(warehouse, orgId);
  if (changes === null) return [];
  const { users, periods, areNew: isOnlyOfStaleDays } = changes;
  const name = 'user_teams';
  const changed = ROWS_OF[warehouse.dialect](orgId, textOf(periods));
  // PostgreSQL takes what comes from JSON for a hundred rows. SQLite joins it by an index.
  const isPostgres = warehouse.dialect === 'postgres';
  if (users === null) return [{ name, body: changed, isMaterialized: true, isTakenForSmall: isPostgres }];
  const unchanged = sql`  SELECT org_id, ${sql.raw(FIELDS.join(', '))}
  FROM ${sql.raw(TABLE_BEHIND[warehouse.dialect])}
  WHERE ${PHRASES[warehouse.dialect].common(sql`org_id`)} = ${orgId} AND user_id NOT IN (${listOf(users.map((user) => sql`${user}`))})`;
  const parts = periods.length === 0 ? [unchanged] : [unchanged, changed];
  // PostgreSQL looks a user up in the index of the table, also before it has measured it. SQLite makes an index of its own.
  const body = sql.join(parts, sql.raw('\n  UNION ALL\n'));
  return [{ name, body, isMaterialized: !isPostgres, readsHidden: true, isOnlyOfStaleDays }];
}

/** The table whose name a named query has. */
const TABLE_BEHIND: Readonly<Record<Dialect, string>> = { sqlite: 'main.user_teams', postgres: 'user_teams' };

/** The periods as one parameter, because a database limits the number of parameters. Absent fields are NULL. */
function textOf(periods: readonly TeamPeriod[]): string {
  return JSON.stringify(periods, (name, value) => (name === 'org_id' ? undefined : (value ?? undefined)));
}

const FIELDS = ['user_id', 'valid_from', 'valid_to', 'person', 'team', 'department', 'cost_center'] as const;

const ROWS_OF: Readonly<Record<Dialect, (orgId: string, json: string) => SQL>> = {
  // SQLite joins by an index that it makes itself, but only over columns whose type is that of the other side, and only over
  // what it takes for large: it guesses that json_each has 25 rows, so one of them would be scanned for every row of the join.
  sqlite: (orgId, json) => sql`  SELECT CAST(o.value AS TEXT) AS org_id,
    ${sql.raw(FIELDS.map((name) => `CAST(json_extract(p.value, '$.${name}') AS TEXT) AS ${name}`).join(',\n    '))}
  FROM json_each(${JSON.stringify([orgId])}) AS o
  CROSS JOIN json_each(${json}) AS p`,
  postgres: (orgId, json) => sql`  SELECT CAST(${orgId} AS text) AS org_id, p.*
  FROM jsonb_to_recordset(CAST(${json} AS jsonb)) AS p (user_id text, valid_from date, valid_to date, person text,
    team text, department text, cost_center text)`,
};
