import {
  DIMENSIONS,
  type Dimension,
  type Grain,
  type Metric,
  type Source,
} from '../../../schema/metrics/dictionary.ts';
import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import type { ReadableRollups } from '../../rollups/index.ts';

/** The name of the column of a metric that is computed alone. */
export const VALUE = 'value';

/** A metric, and the column of the result that has it. */
export interface ComputedMetric {
  readonly metric: Metric;
  readonly column: string;
}

/** A question that has been checked, with all that a query needs. */
export interface Plan {
  readonly phrases: Phrases;
  readonly metric: Metric;
  /** The metrics that the query computes, each with the name of its column. They share the source. */
  readonly computed: readonly ComputedMetric[];
  /** The source of the metric, or its breakdown if a dimension needs it. */
  readonly source: Source;
  readonly orgId: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly by: readonly Dimension[];
  /** The dimension of `by` that cuts the period into buckets. */
  readonly grain: Grain | undefined;
  readonly team: string | null | undefined;
  readonly user: string | undefined;
  /** The values of dimensions that rows must have. */
  readonly where: DimensionValues;
  /** The groups whose rows are left out; undefined for none. */
  readonly except: GroupsLeftOut | undefined;
  /** People for whom pseudonyms stand are told apart, to count them. Otherwise they are one group of the dimension `user`. */
  readonly countsEach: boolean;
  /** The rollups that may be read, because they are current in the snapshot of the query; null for none. */
  readonly rollups: ReadableRollups | null;
  /** What to read in place of the table `user_teams`; nothing if the query may read the table, or needs no teams. */
  readonly teams: readonly NamedQuery[];
  /** True if the query must give NULL for a cost in several currencies, because nothing refuses the question before it runs. */
  readonly checksCurrency: boolean;
}

/** A value of some dimensions; null is the value of rows that name none. */
export type DimensionValues = Readonly<Partial<Record<Dimension, string | null>>>;

/** Groups of an answer: the dimensions that it was cut by, and the values of each group. */
export interface GroupsLeftOut {
  readonly by: readonly Dimension[];
  readonly groups: readonly DimensionValues[];
}

/** The dimensions whose values a question names. */
export function conditionsOf({ where }: Pick<Plan, 'where'>): Dimension[] {
  return DIMENSIONS.filter((dimension) => where[dimension] !== undefined);
}

/** The dimensions of a plan that do not cut the period. */
export function groupsOf({ by, grain }: Plan): readonly Dimension[] {
  return by.filter((dimension) => dimension !== grain);
}

/** True if the query needs the team of each row. */
export function needsTeam({ by, team, except }: Pick<Plan, 'by' | 'team' | 'except'>): boolean {
  return by.includes('team') || team !== undefined || except?.by.includes('team') === true;
}

/** True if the query reads who the users are: their teams, or which people have been active. */
export function readsUserTeams({
  metric,
  ...asked
}: Pick<Plan, 'metric' | 'by' | 'team' | 'except'>): boolean {
  return metric.measure.kind === 'inactive users' || (metric.source.hasUsers && needsTeam(asked));
}

/** The column of a dimension in subqueries. `user` is a reserved word in PostgreSQL. */
export function columnName(dimension: Dimension): SQL {
  return sql.raw(dimension === 'user' ? 'user_id' : dimension);
}

/** The clauses of a SELECT. Conditions are joined by AND. */
interface Select {
  readonly columns: readonly SQL[];
  /** The first table, and one entry for each join. */
  readonly from: readonly SQL[];
  readonly where?: readonly SQL[];
  readonly groupBy?: readonly SQL[];
  readonly orderBy?: readonly SQL[];
}

/** A named subquery of a WITH clause. */
export interface NamedQuery {
  /** Its name, and its columns if the body does not name them. */
  readonly name: string;
  readonly body: SQL;
  /** True: computed once, even if a join reads it row by row. False: where it is read, so that a join uses its indexes. @default as the database decides */
  readonly isMaterialized?: boolean;
  /** The database takes it for small however large it is, so that it must not be joined in more than one way. @default false */
  readonly isTakenForSmall?: boolean;
  /** It reads the table that it hides from the rest of the query. @default false */
  readonly readsHidden?: boolean;
  /** It differs from the table that it hides only in users without a row on any day whose rollups are current. @default false */
  readonly isOnlyOfStaleDays?: boolean;
}

/** Writes a SELECT with a line for each clause, indented, so that people can read it. */
export function selectSql(
  { columns, from, where = [], groupBy = [], orderBy = [] }: Select,
  indent = '',
): SQL {
  const line = sql.raw(`\n${indent}`);
  const deeper = sql.raw(`\n${indent}  `);
  const clauses = [
    sql`SELECT ${sql.join([...columns], sql`,${deeper}`)}`,
    sql`FROM ${sql.join([...from], line)}`,
    ...(where.length > 0 ? [sql`WHERE ${sql.join([...where], sql`${deeper}AND `)}`] : []),
    ...(groupBy.length > 0 ? [sql`GROUP BY ${sql.join([...groupBy], sql`, `)}`] : []),
    ...(orderBy.length > 0 ? [sql`ORDER BY ${sql.join([...orderBy], sql`, `)}`] : []),
  ];
  return sql`${sql.raw(indent)}${sql.join(clauses, line)}`;
}

/** Writes a query that uses named subqueries. */
export function withSql(named: readonly NamedQuery[], main: SQL): SQL {
  if (named.length === 0) return main;
  const parts = named.map(({ name, body, isMaterialized }) => {
    const word = isMaterialized === undefined ? '' : isMaterialized ? 'MATERIALIZED ' : 'NOT MATERIALIZED ';
    const head = sql.raw(`${name} AS ${word}(\n`);
    return sql`${head}${body}\n)`;
  });
  // PostgreSQL would take the hidden table for the query itself. SQLite knows recursion without the word.
  const word = sql.raw(named.some(({ readsHidden }) => readsHidden) ? 'WITH' : 'WITH RECURSIVE');
  return sql`${word} ${sql.join(parts, sql.raw(', '))}\n${main}`;
}

/** What the databases write differently. The arguments are expressions. */
interface Phrases {
  /** A day, where nothing else says that it is one. */
  day(day: UtcDay): SQL;
  /** The body of a named query `name (date)` for the days from `from` to `until`. */
  calendar(name: string, from: UtcDay, until: UtcDay): SQL;
  /** The Monday of the week of a day. */
  weekOf(day: SQL): SQL;
  /** The month of a day, YYYY-MM. */
  monthOf(day: SQL): SQL;
  /** The last day of a week or month, by the names that they have in groups, or `last` if that is earlier. */
  endOf(grain: 'week' | 'month', bucket: SQL, last: SQL): SQL;
  /** A day as the ledger has it: as text. */
  textOf(day: SQL): SQL;
  /** The UTC day of an instant. */
  dayOf(instant: SQL): SQL;
  /** A text, to be sorted by its bytes. */
  sortable(text: SQL): SQL;
  /**
   * The condition that a row `r` belongs to a team, whose people `t` are joined to it. With `=`, SQLite would begin with the teams, and
   * look for the rows of each of their people among those of everybody; with `IS` alone, it would look up the team of each row.
   */
  ofTeam(orgId: string, team: string): SQL;
  /** A column whose condition selects many rows. Without statistics, SQLite takes what an index finds for few, and would scan it in a join. */
  common(column: SQL): SQL;
  /** Ends a subquery that must not be merged with the query around it. */
  readonly unmerged: SQL;
}

const sqlite: Phrases = {
  day: (day) => sql`${day}`,
  calendar: (name, from, until) => sql`  SELECT ${from}
  UNION ALL
  SELECT date(date, '+1 day') FROM ${sql.raw(name)} WHERE date < ${until}`,
  weekOf: (day) => sql`date(${day}, 'weekday 0', '-6 days')`,
  monthOf: (day) => sql`substr(${day}, 1, 7)`,
  endOf: (grain, bucket, last) => {
    const [day, step] =
      grain === 'week' ? [bucket, sql`'+6 days'`] : [sql`${bucket} || '-01'`, sql`'+1 month', '-1 day'`];
    return sql`MIN(date(${day}, ${step}), ${last})`;
  },
  textOf: (day) => day,
  dayOf: (instant) => sql`substr(${instant}, 1, 10)`,
  sortable: (text) => text,
  ofTeam: (orgId, team) =>
    sql`r.user_id IN (SELECT user_id FROM user_teams WHERE org_id = ${orgId} AND team = ${team}) AND t.team IS ${team}`,
  common: (column) => sql`+${column}`,
  unmerged: sql``,
};

const postgres: Phrases = {
  day: (day) => sql`CAST(${day} AS date)`,
  calendar: (_name, from, until) => sql`  SELECT CAST(day AS date)
  FROM generate_series(CAST(${from} AS timestamp), CAST(${until} AS timestamp), INTERVAL '1 day') AS day`,
  weekOf: (day) => sql`CAST(date_trunc('week', CAST(${day} AS timestamp)) AS date)`,
  monthOf: (day) => sql`to_char(${day}, 'YYYY-MM')`,
  endOf: (grain, bucket, last) =>
    grain === 'week'
      ? sql`LEAST(${bucket} + 6, ${last})`
      : sql`LEAST(CAST(CAST(${bucket} || '-01' AS date) + INTERVAL '1 month' AS date) - 1, ${last})`,
  textOf: (day) => sql`to_char(${day}, 'YYYY-MM-DD')`,
  dayOf: (instant) => sql`CAST(${instant} AT TIME ZONE 'UTC' AS date)`,
  sortable: (text) => sql`${text} COLLATE "C"`,
  ofTeam: (_orgId, team) => sql`t.team = ${team}`,
  common: (column) => column,
  unmerged: sql` OFFSET 0`,
};

/** How each database writes what the databases write differently. */
export const PHRASES: Readonly<Record<Dialect, Phrases>> = { sqlite, postgres };
