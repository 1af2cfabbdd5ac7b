import {
  type Dimension,
  type Measure,
  type Metric,
  type Term,
  userRows,
} from '../../../schema/metrics/dictionary.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { equals, exceptConditions, groupsUnnamed, UNNAMED_GROUP } from './conditions.ts';
import {
  columnName,
  conditionsOf,
  groupsOf,
  type NamedQuery,
  needsTeam,
  type Plan,
  selectSql,
  VALUE,
} from './plan.ts';
import { rollupRows } from './rollup-rows.ts';
import { dailyRows, firstRows, groupsOfRows, type RowKind, type Rows, ratioSql, termSql } from './rows.ts';
import { costAndUserRows, groupColumns, teamRows } from './team-rows.ts';

/** The terms that the metrics of a plan add up. */
export function termsOf({ computed }: Pick<Plan, 'computed'>): readonly Term[] {
  return computed.flatMap(({ metric: { measure } }) => {
    if (measure.kind === 'term') return [measure.term];
    return measure.kind === 'ratio' ? [measure.numerator, measure.denominator] : [];
  });
}

/** True if one query can compute both metrics: from the same rows, without prices. */
export function canShareQuery(a: Metric, b: Metric): boolean {
  return a.source === b.source && a.breakdown === b.breakdown && [a, b].every(addsUpRows);
}

function addsUpRows(metric: Metric): boolean {
  const terms = termsOf({ computed: [{ metric, column: VALUE }] });
  return terms.length > 0 && terms.every(({ kind }) => kind !== 'cost');
}

/** The facts of a plan, see {@link Facts}. */
export function factsOf(plan: Plan): Facts {
  const { measure } = plan.metric;
  switch (measure.kind) {
    case 'term':
    case 'ratio':
      return groupedTerms(plan);
    case 'snapshot': {
      const value = sql.raw(`MAX(r.${measure.column})`);
      return grouped(plan, dailyRows(plan, []), [{ column: VALUE, value, nothing: 'null' }]);
    }
    case 'new users':
      return {
        ...grouped(plan, firstRows(plan), [{ column: VALUE, value: sql`COUNT(*)`, nothing: 'zero' }]),
        // Who had rows that have expired would pass for new.
        onlyIf: sql`NOT EXISTS (SELECT 1 FROM export_units
    WHERE org_id = ${plan.orgId} AND stream = 'users' AND state = 'expired')`,
      };
    case 'licensed users':
      return countedPeople(plan, { named: [], value: sql`COUNT(*)` });
    case 'inactive users':
      return inactivePeople(plan);
    case 'readiness score':
      return readinessFacts(plan);
  }
}

function groupedTerms(plan: Plan): Facts {
  const terms = termsOf(plan);
  const rows =
    teamRows(plan, terms) ??
    perUser(plan, terms, rollupRows(plan, terms) ?? costAndUserRows(plan, terms) ?? dailyRows(plan, terms));
  const values = plan.computed.map(({ metric, column }) => ({
    column,
    ...formulaOf(metric.measure, rows.kind),
  }));
  return grouped(plan, rows, values);
}

/**
 * One row for each user in each group, where only users are counted and a user has many rows in a group: the databases find the
 * distinct ones of these sooner. Otherwise the rows themselves: a user has few in a week, and a rollup has one.
 */
function perUser(plan: Plan, terms: readonly Term[], rows: Rows): Rows {
  const hasMany = plan.grain === undefined || (plan.grain === 'month' && rows.kind === 'daily');
  if (plan.by.includes('user') || !hasMany || !terms.every(({ kind }) => kind === 'users')) return rows;
  const bucket = rows.bucket === undefined ? [] : [rows.bucket];
  const columns = [sql`r.user_id`, ...(needsTeam(plan) ? [rows.team] : []), ...groupColumns(plan), ...bucket];
  const body = selectSql({ columns, from: rows.from, where: rows.where, groupBy: columns }, '  ');
  return {
    ...{ ...rows, where: [], team: sql`r.team`, bucket: rows.bucket && sql`r.month` },
    named: [...rows.named, { name: 'each_user', body }],
    from: [sql`each_user r`],
  };
}

function formulaOf(measure: Measure, rows: RowKind): { readonly value: SQL; readonly nothing: Nothing } {
  if (measure.kind === 'term') return { value: termSql(measure.term, rows), nothing: 'zero' };
  if (measure.kind === 'ratio') {
    return { value: ratioSql(measure.numerator, measure.denominator, rows), nothing: 'null' };
  }
  throw new TypeError(`a ${measure.kind} metric is not computed from the sums of rows`);
}

/** What a bucket has where nothing occurs although a day of it is stored. */
type Nothing = 'zero' | 'null';

/** A column of values. */
export interface ValueColumn {
  readonly column: string;
  readonly nothing: Nothing;
}

/** The subqueries whose last, `facts`, has a row for each group: bucket, dimensions, `row_count` and the values. */
export interface Facts {
  readonly named: readonly NamedQuery[];
  readonly values: readonly ValueColumn[];
  /** False for readiness reports, which do not belong to days. */
  readonly isByDay: boolean;
  /** A condition without which every value is NULL. */
  readonly onlyIf?: SQL;
}

/** Facts that are computed from each group of rows. */
function grouped(plan: Plan, rows: Rows, values: readonly (ValueColumn & { readonly value: SQL })[]): Facts {
  const groups = groupsOfRows(plan, rows);
  const body = selectSql(
    {
      columns: [
        ...groups.map(({ expression, column }) => sql`${expression} AS ${column}`),
        sql`COUNT(*) AS row_count`,
        ...(groupsUnnamed(plan) ? [UNNAMED_GROUP.people] : []),
        ...values.map(({ column, value }) => sql`${value} AS ${sql.raw(column)}`),
      ],
      from: rows.from,
      where: rows.where,
      groupBy: groups.map(({ expression }) => expression),
    },
    '  ',
  );
  return { named: [...rows.named, { name: 'facts', body }], values, isByDay: true };
}

/** The number of licensed people whose users have no row in the bucket. */
function inactivePeople(plan: Plan): Facts {
  const { grain } = plan;
  const [who, key] =
    grain === undefined ? ['p.person', 'person'] : [`(b.${grain}, p.person)`, `${grain}, person`];
  // A list has an index in any case. As a join, SQLite would read all of it for each person until it has statistics.
  const isActive = sql.raw(`${who} IN (SELECT ${key} FROM active_people)`);
  return countedPeople(plan, {
    named: activePeople(plan),
    value: sql`SUM(CASE WHEN ${isActive} THEN 0 ELSE 1 END)`,
  });
}

function countedPeople(plan: Plan, { named, value }: { named: readonly NamedQuery[]; value: SQL }): Facts {
  const { orgId, grain } = plan;
  const bucket = grain === undefined ? [] : [sql.raw(`b.${grain}`)];
  const groups = [...bucket, ...groupsOf(plan).map((dimension) => sql`p.${columnName(dimension)}`)];
  const body = selectSql(
    {
      columns: [...groups, sql`COUNT(*) AS row_count`, sql`${value} AS value`],
      from: [
        sql`buckets b`,
        sql`JOIN people p ON p.org_id = ${orgId}
    AND b.last_day >= p.valid_from AND (p.valid_to IS NULL OR b.last_day <= p.valid_to)`,
      ],
      where: [
        ...(plan.team === undefined ? [] : [equals(sql`p.team`, plan.team)]),
        ...exceptConditions(plan, (dimension, value) => equals(sql`p.${columnName(dimension)}`, value)),
      ],
      groupBy: groups,
    },
    '  ',
  );
  return {
    named: [...named, { name: 'facts', body }],
    values: [{ column: VALUE, nothing: 'zero' }],
    isByDay: true,
    onlyIf: sql`EXISTS (SELECT 1 FROM people WHERE org_id = ${orgId})`,
  };
}

/** The people who have a user with a row in the bucket, by whom the user is on its last day. */
function activePeople(plan: Plan): NamedQuery[] {
  const { orgId, grain } = plan;
  const everyone: Plan = {
    ...plan,
    source: userRows,
    by: grain === undefined ? [] : [grain],
    team: undefined,
    except: undefined,
  };
  const rows = rollupRows(everyone, []) ?? dailyRows(everyone, []);
  const bucket =
    rows.bucket === undefined || grain === undefined ? [] : [sql`${rows.bucket} AS ${sql.raw(grain)}`];
  const column = grain === undefined ? [] : [sql.raw(`u.${grain}`)];
  const users = selectSql(
    {
      // Not DISTINCT: SQLite would take the users for few, and look through all teams for each.
      columns: [...bucket, sql`r.user_id`],
      from: rows.from,
      where: rows.where,
    },
    '  ',
  );
  const people = selectSql(
    {
      columns: [sql.join([sql`DISTINCT `, sql.join([...column, sql`t.person`], sql`, `)])],
      from: [
        sql`active_users u`,
        sql`JOIN user_teams t ON t.org_id = ${orgId} AND t.user_id = u.user_id
    AND ${lastDayOf(plan)} BETWEEN t.valid_from AND t.valid_to`,
      ],
    },
    '  ',
  );
  return [...rows.named, { name: 'active_users', body: users }, { name: 'active_people', body: people }];
}

/** The last day of the bucket of a row `u`. A join with the buckets would look through all of them for each row. */
function lastDayOf({ phrases, grain, until }: Plan): SQL {
  const last = phrases.day(until);
  if (grain === undefined) return last;
  const bucket = sql.raw(`u.${grain}`);
  return grain === 'date' ? bucket : phrases.endOf(grain, bucket, last);
}

/** The mean score of the reports that are the latest of their repository at the end of each bucket. */
function readinessFacts(plan: Plan): Facts {
  const { phrases, orgId, grain } = plan;
  const createdOn = phrases.dayOf(sql`created_at`);
  const reports = selectSql(
    {
      columns: [
        sql`report_id`,
        sql`repo_url AS repository`,
        sql`${createdOn} AS created_on`,
        sql`LEAD(${createdOn}) OVER (PARTITION BY repo_url ORDER BY created_at, report_id) AS replaced_on`,
      ],
      from: [sql`readiness_reports`],
      where: [sql`org_id = ${orgId}`],
    },
    '  ',
  );
  const scores = selectSql(
    {
      columns: [sql`report_id`, sql`AVG(numerator * 1.0 / NULLIF(denominator, 0)) AS score`],
      from: [sql`readiness_report_criteria`],
      where: [sql`org_id = ${orgId}`],
      groupBy: [sql`report_id`],
    },
    '  ',
  );
  const bucket = grain === undefined ? [] : [sql.raw(`b.${grain}`)];
  const groups = [...bucket, ...groupsOf(plan).map((dimension) => sql.raw(`r.${dimension}`))];
  const isOf = (dimension: Dimension, value: string | null) => equals(sql.raw(`r.${dimension}`), value);
  const facts = selectSql(
    {
      columns: [...groups, sql`COUNT(*) AS row_count`, sql`AVG(s.score) AS value`],
      from: [
        sql`buckets b`,
        sql`JOIN reports r ON r.created_on <= b.last_day
    AND (r.replaced_on IS NULL OR r.replaced_on > b.last_day)`,
        sql`LEFT JOIN scores s ON s.report_id = r.report_id`,
      ],
      where: [
        ...conditionsOf(plan).map((dimension) => isOf(dimension, plan.where[dimension] ?? null)),
        ...exceptConditions(plan, isOf),
      ],
      groupBy: groups,
    },
    '  ',
  );
  return {
    named: [
      { name: 'reports', body: reports },
      { name: 'scores', body: scores },
      { name: 'facts', body: facts },
    ],
    values: [{ column: VALUE, nothing: 'null' }],
    isByDay: false,
  };
}
