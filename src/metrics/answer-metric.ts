import type { Dimension, Metric } from '../../schema/metrics/dictionary.ts';
import { type Dialect, pricedOn, queryText, type SQL, sql } from '../../schema/query.ts';
import { frozen, type QueryRow, type Warehouse } from '../port/index.ts';
import { readableRollups } from '../rollups/index.ts';
import { peopleWarnings, pricesOfAnswer, priceWarnings } from './limits.ts';
import type { Period } from './period.ts';
import { type FirstLooks, readProvenance } from './provenance.ts';
import { groupsUnnamed, UNNAMED_GROUP } from './query/conditions.ts';
import { canShareQuery, type Facts, factsOf, termsOf, type ValueColumn } from './query/facts.ts';
import {
  type ComputedMetric,
  columnName,
  conditionsOf,
  type NamedQuery,
  PHRASES,
  type Plan,
  readsUserTeams,
  selectSql,
  VALUE,
  withSql,
} from './query/plan.ts';
import { bucketsOf, dailyRows, daysOf, teamsInPlaceOfTable } from './query/rows.ts';
import {
  checkAdditivity,
  checkDimensions,
  expectKept,
  findMetric,
  type MetricAnswer,
  type MetricQuestion,
  type MetricRow,
} from './question.ts';

/** A question whose period is known. */
export type DatedQuestion = MetricQuestion & Period;

/**
 * Answers a question from one snapshot of the warehouse. Do not call it inside another snapshot.
 * @throws {UsageError} if the metric does not exist, does not have the dimensions or filters, or does not add up.
 */
export async function answerMetric(warehouse: Warehouse, question: MetricQuestion): Promise<MetricAnswer> {
  const { sql: _, column: _column, firstLooks: _looks, ...answer } = await answerWithSql(warehouse, question);
  return answer;
}

/** An answer, and the SQL that gave its rows. */
interface AnswerWithSql extends MetricAnswer {
  /** With its values as literals. */
  readonly sql: string;
  /** The column of the SQL that has the value: `value`, or the name of the metric if the SQL computes several. */
  readonly column: string;
  /** Days that are unsettled only because they have been seen too few times; null if there are none. */
  readonly firstLooks: FirstLooks | null;
}

/**
 * As {@link answerMetric}, with the SQL that gave the rows.
 * @throws {UsageError} as {@link answerMetric} does.
 */
export function answerWithSql(warehouse: Warehouse, question: MetricQuestion): Promise<AnswerWithSql> {
  return warehouse.inSnapshot(async () => {
    const own = frozen(warehouse);
    const { plan, provenance } = await planIn(own, question);
    const prices = usesPrices(plan) ? await pricesOfAnswer(own, plan) : undefined;
    const query = queryOf(plan);
    const rows = await own.select(query);
    const { name, unit } = plan.metric;
    const column = plan.computed.find(({ metric }) => metric === plan.metric)?.column ?? VALUE;
    return {
      metric: name,
      org_id: plan.orgId,
      unit: unit === 'currency' ? (prices?.currency ?? unit) : unit,
      from: plan.from,
      until: plan.until,
      rows: rows.map((row) => rowOf(row, plan, column)),
      days: provenance.days,
      run_id: provenance.run_id,
      warnings: [...(await peopleWarnings(own, plan, provenance)), ...priceWarnings(prices)],
      sql: queryText(query),
      column,
      firstLooks: provenance.firstLooks,
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
    if (usesPrices(plan)) await pricesOfAnswer(warehouse, plan);
    return queryText(queryOf(plan));
  });
}

/** How a query reads a warehouse that nobody has looked at. */
interface QueryOptions {
  /** Named queries that its text begins with. @default none */
  readonly first?: readonly NamedQuery[];
  /** Gives NULL for a cost in several currencies. @default false: the caller refuses the question */
  readonly checksCurrency?: boolean;
}

/**
 * The query for a question whose period is known, without a look at a warehouse. It reads teams from `user_teams`.
 * @throws {UsageError} if the metric does not exist, does not have the dimensions or filters, or does not add up.
 */
export function metricQuery(
  dialect: Dialect,
  question: DatedQuestion,
  { first = [], checksCurrency = false }: QueryOptions = {},
): SQL {
  return queryOf(planOf(dialect, question, { rollups: null, teams: first, checksCurrency }));
}

/** The plan of a question, and what its answer rests on. Call inside the snapshot of the query. */
export async function planIn(warehouse: Warehouse, question: MetricQuestion) {
  const { orgId, from, until } = question;
  const metric = findMetric(question.metric);
  checkDimensions(metric, question);
  const provenance = await readProvenance(warehouse, {
    orgId,
    streams: metric.source.streams ?? [metric.source.stream],
    from,
    until,
  });
  expectKept(metric, question, provenance.notKept);
  const period = { from: provenance.from, until: provenance.until };
  const rollups =
    metric.source.stream === 'users'
      ? await readableRollups(warehouse, orgId, period.from, period.until)
      : null;
  const { by, team, except } = question;
  const teams = readsUserTeams({ metric, by, team, except })
    ? await teamsInPlaceOfTable(warehouse, orgId)
    : [];
  const plan = planOf(
    warehouse.dialect,
    { ...question, ...period },
    { rollups, teams, checksCurrency: false },
  );
  return { plan, provenance };
}

function planOf(
  dialect: Dialect,
  question: DatedQuestion,
  state: Pick<Plan, 'rollups' | 'teams' | 'checksCurrency'>,
): Plan {
  const { orgId, by, from, until, team, user, where = {}, except, countsEach = false } = question;
  const metric = findMetric(question.metric);
  const grain = checkDimensions(metric, question);
  checkAdditivity(metric, question, { grain, period: { from, until } });
  const { source, breakdown } = metric;
  const needsBreakdown =
    breakdown !== undefined &&
    [...by, ...conditionsOf({ where }), ...(except?.by ?? [])].some(
      (dimension) => breakdown.columns[dimension] !== undefined,
    );
  return {
    phrases: PHRASES[dialect],
    metric,
    computed: computedWith(metric, question.together),
    source: needsBreakdown ? breakdown : source,
    orgId,
    from,
    until,
    by,
    grain,
    team,
    user,
    where,
    except,
    countsEach,
    ...state,
  };
}

/** The metrics that one query answers, and their columns. */
function computedWith(metric: Metric, together: readonly string[] = []): readonly ComputedMetric[] {
  const shared = [...new Set(together)].map(findMetric).filter((other) => canShareQuery(metric, other));
  if (shared.length < 2 || !shared.includes(metric)) return [{ metric, column: VALUE }];
  return shared.map((each) => ({ metric: each, column: each.name }));
}

function rowOf(row: QueryRow, { by }: Plan, column: string): MetricRow {
  const { [column]: value = null } = row;
  const dimensions = Object.fromEntries(by.map((dimension) => [dimension, row[dimension] ?? null]));
  return { ...dimensions, value: typeof value === 'number' ? value : null };
}

/**
 * The query for a metric: one row for each bucket and group, with the dimensions in the order of the question, sorted by
 * them, and `value`, or a column for each metric of a question about several.
 */
function queryOf(plan: Plan): SQL {
  const { grain, by } = plan;
  const withPrice = termsOf(plan).some(({ kind }) => kind === 'cost');
  const facts = {
    ...factsOf(plan),
    ...(withPrice && plan.checksCurrency && { onlyIf: inOneCurrency(plan) }),
  };
  const days = grain === undefined && !withPrice ? [] : daysOf(plan, { withPrice });
  const main = selectSql({
    columns: [
      ...by.map((dimension) => dimensionColumn(plan, dimension)),
      ...facts.values.map((value) => sql`${finalValue(plan, facts, value)} AS ${sql.raw(value.column)}`),
    ],
    from: [
      sql`buckets b`,
      grain === undefined ? sql`CROSS JOIN facts f` : sql.raw(`LEFT JOIN facts f ON f.${grain} = b.${grain}`),
    ],
    orderBy: by.map((dimension) => orderOf(plan, dimension)),
  });
  return withSql([...plan.teams, ...days, bucketsOf(plan), ...facts.named], main);
}

function dimensionColumn(plan: Plan, dimension: Dimension): SQL {
  if (dimension === plan.grain) return sql`b.${columnName(dimension)}`;
  if (dimension !== 'user') return sql`f.${columnName(dimension)}`;
  return sql`${groupsUnnamed(plan) ? UNNAMED_GROUP.name : sql`f.user_id`} AS "user"`;
}

function usesPrices(plan: Plan): boolean {
  return termsOf(plan).some(({ kind }) => kind === 'cost');
}

function orderOf({ grain, phrases }: Plan, dimension: Dimension): SQL {
  if (dimension === grain) return sql`b.${columnName(dimension)}`;
  return sql`${phrases.sortable(sql`f.${columnName(dimension)}`)} NULLS LAST`;
}

function finalValue({ source }: Plan, { isByDay, onlyIf }: Facts, { column, nothing }: ValueColumn): SQL {
  const value = sql.raw(`f.${column}`);
  const cases = [
    ...(isByDay ? [sql`WHEN b.stored_days = 0 THEN NULL`] : []),
    // What is left of the bucket would pass for all of it.
    ...(source.stream === 'users' ? [sql`WHEN b.expired_days > 0 THEN NULL`] : []),
    ...(onlyIf === undefined ? [] : [sql`WHEN NOT ${onlyIf} THEN NULL`]),
    ...(nothing === 'zero' ? [sql`WHEN COALESCE(f.row_count, 0) = 0 THEN 0`] : []),
  ];
  if (cases.length === 0) return value;
  return sql`CASE ${sql.join([...cases, sql`ELSE ${value}`], sql.raw('\n    '))}\n  END`;
}

/** The condition that the days of a question with credits have prices in one currency at most. */
function inOneCurrency(plan: Plan): SQL {
  const rows = dailyRows({ ...plan, by: [], grain: undefined }, []);
  const currencies = selectSql(
    {
      columns: [sql`COUNT(DISTINCT p.currency)`],
      from: [
        ...rows.from,
        sql`JOIN prices p ON p.org_id = r.org_id
    AND ${sql.raw(pricedOn('r.date'))}`,
      ],
      where: [...rows.where, sql`r.billable_tokens <> 0`],
    },
    '    ',
  );
  return sql`(\n${currencies}\n  ) <= 1`;
}
