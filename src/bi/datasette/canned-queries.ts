import { allMetrics, type Dimension, type Metric } from '../../../schema/metrics.ts';
import { isMetricCall, questions } from '../../../schema/reference.ts';
import { combiningOf } from '../dictionary/combining.ts';
import { cutsOf } from '../dictionary/cuts.ts';
import { metricSql } from '../dictionary/metric-sql.ts';
import { shownUnit } from '../dictionary/shown-unit.ts';
import { CHOSEN, PARAMETERS } from './parameters.ts';

/** A query with a name and a page in Datasette. */
export interface CannedQuery {
  readonly title: string;
  readonly description: string;
  readonly sql: string;
  /** In the order of their fields on the page. */
  readonly params?: readonly string[];
}

/** Dimensions that have no query of their own: a day or week can be chosen, and users are rows of tables. */
const WITHOUT_QUERY: readonly Dimension[] = ['date', 'week', 'user', 'delegation_level'];

/** The ways in which Datasette has a query for a metric: by month, or by date if it is published for days, and by its groups. */
export function queriedCuts(metric: Metric): readonly (readonly Dimension[])[] {
  if (metric.measure.kind === 'snapshot') return cutsOf(metric);
  return cutsOf(metric).filter((by) => by.length > 0 && !by.some((part) => WITHOUT_QUERY.includes(part)));
}

/** The name of the query for a metric in its cut: `cost_by_month`. */
export function queryName(metric: string, by: readonly Dimension[]): string {
  return `${metric}_by_${by.join('_')}`;
}

/** A query for every metric in each of its cuts, and one for every question whose answer is a SELECT. */
export function cannedQueries(): Readonly<Record<string, CannedQuery>> {
  const metrics = allMetrics.flatMap((metric) =>
    queriedCuts(metric).map((by) => [queryName(metric.name, by), metricQuery(metric, by)] as const),
  );
  return Object.fromEntries([...metrics, ...questionQueries()]);
}

function metricQuery(metric: Metric, by: readonly Dimension[]): CannedQuery {
  const { name, title, doc } = metric;
  return {
    title: `${title} by ${by.join(' and ')}, in ${shownUnit(metric)}`,
    description: `${doc} ${combiningOf(metric)} Leave the days empty for all days, and the organization if there is only one.`,
    sql: metricSql('sqlite', { metric: name, by }, CHOSEN),
    params: PARAMETERS,
  };
}

function questionQueries(): (readonly [string, CannedQuery])[] {
  return questions.flatMap(({ id, title, note = '', ask }) => {
    if (isMetricCall(ask)) return [];
    const name = `question_${id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
    return [[name, { title, description: note, sql: ask.sql }] as const];
  });
}
