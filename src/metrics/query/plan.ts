import type { Dimension, Grain, Metric, Source } from '../../../schema/metrics/define.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import type { MarkedRollup } from '../../rollups/standing.ts';
import type { NamedQuery, Phrases } from './select.ts';

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
  /** The rollups that may be read, because they are current in the snapshot of the query. */
  readonly rollups: ReadonlySet<MarkedRollup>;
  /** What to read in place of the table `user_teams`; nothing if the query may read the table, or needs no teams. */
  readonly teams: readonly NamedQuery[];
  /** True if the query must give NULL for a cost in several currencies, because nothing refuses the question before it runs. */
  readonly checksCurrency: boolean;
}

/** The dimensions of a plan that do not cut the period. */
export function groupsOf({ by, grain }: Plan): readonly Dimension[] {
  return by.filter((dimension) => dimension !== grain);
}

/** True if the query needs the team of each row. */
export function needsTeam({ by, team }: Pick<Plan, 'by' | 'team'>): boolean {
  return by.includes('team') || team !== undefined;
}

/** True if the query reads who the users are: their teams, or which people have been active. */
export function readsUserTeams({ metric, by, team }: Pick<Plan, 'metric' | 'by' | 'team'>): boolean {
  return metric.measure.kind === 'inactive users' || (metric.source.hasUsers && needsTeam({ by, team }));
}

/** The column of a dimension in subqueries. `user` is a reserved word in PostgreSQL. */
export function columnName(dimension: Dimension): SQL {
  return sql.raw(dimension === 'user' ? 'user_id' : dimension);
}

/** The conditions on the team of a row; none without a filter. */
export function teamConditions({ team }: Plan, column: SQL): SQL[] {
  if (team === undefined) return [];
  return [team === null ? sql`${column} IS NULL` : sql`${column} = ${team}`];
}
