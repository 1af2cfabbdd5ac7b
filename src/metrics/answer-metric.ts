import type { Metric } from '../../schema/metrics.ts';
import { type Dialect, queryText, type SQL } from '../../schema/query.ts';
import type { QueryRow, Warehouse } from '../warehouse/port.ts';
import { currentRollups, type MarkedRollup } from '../warehouse/rollups/current.ts';
import { peopleWarnings, priceWarnings } from './answer-warnings.ts';
import { checkAdditivity, checkDimensions } from './check-question.ts';
import { findMetric } from './find-metric.ts';
import type { Period } from './period.ts';
import { pricesOfAnswer } from './prices-of-answer.ts';
import { readProvenance } from './provenance.ts';
import { PHRASES } from './query/dialect.ts';
import { termsOf } from './query/measures.ts';
import { queryOf } from './query/metric-query.ts';
import { type Plan, readsUserTeams } from './query/plan.ts';
import { wholeBuckets } from './query/rollup-rows.ts';
import { teamsInPlaceOfTable } from './query/team-rows.ts';
import type { MetricAnswer, MetricQuestion, MetricRow } from './question.ts';

/** A question whose period is known. */
export type DatedQuestion = MetricQuestion & Period;

/**
 * Answers a question from one snapshot of the warehouse. Do not call it inside another snapshot.
 * @throws {UsageError} if the metric does not exist, does not have the dimensions or filters, or does not add up.
 */
export async function answerMetric(warehouse: Warehouse, question: MetricQuestion): Promise<MetricAnswer> {
  const { sql: _, ...answer } = await answerWithSql(warehouse, question);
  return answer;
}

/**
 * As {@link answerMetric}, with the SQL that gave the rows, its values as literals.
 * @throws {UsageError} as {@link answerMetric} does.
 */
export function answerWithSql(
  warehouse: Warehouse,
  question: MetricQuestion,
): Promise<MetricAnswer & { readonly sql: string }> {
  return warehouse.inSnapshot(async () => {
    const { plan, provenance } = await planIn(warehouse, question);
    const prices = usesPrices(plan.metric) ? await pricesOfAnswer(warehouse, plan) : undefined;
    const query = queryOf(plan);
    const rows = await warehouse.select(query);
    const { name, unit } = plan.metric;
    return {
      metric: name,
      org_id: plan.orgId,
      unit: unit === 'currency' ? (prices?.currency ?? unit) : unit,
      from: plan.from,
      until: plan.until,
      rows: rows.map(rowOf),
      days: provenance.days,
      run_id: provenance.run_id,
      warnings: [...(await peopleWarnings(warehouse, plan)), ...priceWarnings(prices)],
      sql: queryText(query),
    };
  });
}

/**
 * The SQL that {@link answerMetric} would run now, with its values as literals, for the database of the warehouse.
 * @throws {UsageError} as {@link answerMetric} does.
 */
export function metricSql(warehouse: Warehouse, question: MetricQuestion): Promise<string> {
  return warehouse.inSnapshot(async () => {
    const { plan } = await planIn(warehouse, question);
    if (usesPrices(plan.metric)) await pricesOfAnswer(warehouse, plan);
    return queryText(queryOf(plan));
  });
}

/**
 * The query for a question whose period is known, without a look at a warehouse. It reads teams from `user_teams`.
 * @param rollups the rollups that the query may read, because they are current where it runs.
 * @throws {UsageError} if the metric does not exist, does not have the dimensions or filters, or does not add up.
 */
export function metricQuery(
  dialect: Dialect,
  question: DatedQuestion,
  { rollups = new Set() }: { readonly rollups?: ReadonlySet<MarkedRollup> } = {},
): SQL {
  return queryOf(planOf(dialect, question, { rollups, teams: [] }));
}

async function planIn(warehouse: Warehouse, question: MetricQuestion) {
  const { orgId, from, until } = question;
  const metric = findMetric(question.metric);
  const grain = checkDimensions(metric, question);
  const provenance = await readProvenance(warehouse, {
    orgId,
    streams: [metric.source.stream],
    from,
    until,
  });
  const period = { from: provenance.from, until: provenance.until };
  const rollups = await rollupsFor(warehouse, { metric, grain, orgId, ...period });
  const { by, team } = question;
  const teams = readsUserTeams({ metric, by, team }) ? await teamsInPlaceOfTable(warehouse, orgId) : [];
  const plan = planOf(warehouse.dialect, { ...question, ...period }, { rollups, teams });
  return { plan, provenance };
}

function planOf(dialect: Dialect, question: DatedQuestion, state: Pick<Plan, 'rollups' | 'teams'>): Plan {
  const { orgId, by, from, until, team, user } = question;
  const metric = findMetric(question.metric);
  const grain = checkDimensions(metric, question);
  checkAdditivity(metric, question, { grain, period: { from, until } });
  const { source, breakdown } = metric;
  const needsBreakdown =
    breakdown !== undefined && by.some((dimension) => breakdown.columns[dimension] !== undefined);
  return {
    phrases: PHRASES[dialect],
    metric,
    source: needsBreakdown ? breakdown : source,
    orgId,
    from,
    until,
    by,
    grain,
    team,
    user,
    ...state,
  };
}

/** The rollups that are current where the question could read them. */
function rollupsFor(
  warehouse: Warehouse,
  { metric, ...period }: Pick<Plan, 'metric' | 'grain' | 'orgId' | 'from' | 'until'>,
): Promise<ReadonlySet<MarkedRollup>> | ReadonlySet<MarkedRollup> {
  if (metric.source.stream !== 'users') return new Set();
  const { first, last } = wholeBuckets(period) ?? { first: period.from, last: period.until };
  return currentRollups(warehouse, period.orgId, first, last);
}

function rowOf(row: QueryRow): MetricRow {
  const { value = null } = row;
  return { ...row, value: typeof value === 'number' ? value : null };
}

function usesPrices(metric: Metric): boolean {
  return termsOf(metric).some(({ kind }) => kind === 'cost');
}
