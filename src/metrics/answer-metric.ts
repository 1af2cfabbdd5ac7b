import type { Dimension, Metric } from '../../schema/metrics/dictionary.ts';
import { type Dialect, queryText, type SQL, sql } from '../../schema/query.ts';
import { isDay, shiftDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import type { QueryRow, Warehouse } from '../port/index.ts';
import { currentRollups, type MarkedRollup } from '../rollups/index.ts';
import type { Period } from './period.ts';
import { type FirstLooks, readProvenance } from './provenance.ts';
import { canShareQuery, type Facts, factsOf, termsOf, type ValueColumn } from './query/facts.ts';
import {
  type ComputedMetric,
  columnName,
  type NamedQuery,
  needsTeam,
  PHRASES,
  type Plan,
  readsUserTeams,
  selectSql,
  VALUE,
  withSql,
} from './query/plan.ts';
import { wholeBuckets } from './query/rollup-rows.ts';
import {
  bucketsOf,
  dailyRows,
  daysOf,
  ERASED_GROUP,
  groupsErased,
  teamsInPlaceOfTable,
} from './query/rows.ts';
import {
  checkAdditivity,
  checkDimensions,
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
    const { plan, provenance } = await planIn(warehouse, question);
    const prices = usesPrices(plan) ? await pricesOfAnswer(warehouse, plan) : undefined;
    const query = queryOf(plan);
    const rows = await warehouse.select(query);
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
      warnings: [...(await peopleWarnings(warehouse, plan)), ...priceWarnings(prices)],
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
  /** The rollups that it may read, because they are current where it runs. @default none */
  readonly rollups?: ReadonlySet<MarkedRollup>;
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
  { rollups = new Set(), first = [], checksCurrency = false }: QueryOptions = {},
): SQL {
  return queryOf(planOf(dialect, question, { rollups, teams: first, checksCurrency }));
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
  const { orgId, by, from, until, team, user, countsEach = false } = question;
  const metric = findMetric(question.metric);
  const grain = checkDimensions(metric, question);
  checkAdditivity(metric, question, { grain, period: { from, until } });
  const { source, breakdown } = metric;
  const needsBreakdown =
    breakdown !== undefined && by.some((dimension) => breakdown.columns[dimension] !== undefined);
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
    countsEach,
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

function usesPrices(plan: Plan): boolean {
  return termsOf(plan).some(({ kind }) => kind === 'cost');
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
      ...facts.values.map((value) => sql`${finalValue(facts, value)} AS ${sql.raw(value.column)}`),
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
  return sql`${groupsErased(plan) ? ERASED_GROUP.name : sql`f.user_id`} AS "user"`;
}

function orderOf({ grain, phrases }: Plan, dimension: Dimension): SQL {
  if (dimension === grain) return sql`b.${columnName(dimension)}`;
  return sql`${phrases.sortable(sql`f.${columnName(dimension)}`)} NULLS LAST`;
}

function finalValue({ isByDay, onlyIf }: Facts, { column, nothing }: ValueColumn): SQL {
  const value = sql.raw(`f.${column}`);
  const cases = [
    ...(isByDay ? [sql`WHEN b.stored_days = 0 THEN NULL`] : []),
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
    AND r.date >= p.valid_from AND (p.valid_to IS NULL OR r.date <= p.valid_to)`,
      ],
      where: [...rows.where, sql`r.billable_tokens <> 0`],
    },
    '    ',
  );
  return sql`(\n${currencies}\n  ) <= 1`;
}

/** What an answer that needs to know people lacks, one sentence each. */
async function peopleWarnings(warehouse: Pick<Warehouse, 'select'>, plan: Plan): Promise<string[]> {
  const { metric, orgId } = plan;
  const countsPeople = ['licensed users', 'inactive users'].includes(metric.measure.kind);
  if (!countsPeople && !needsTeam(plan)) return [];
  const people = await warehouse.select(sql`SELECT person FROM people WHERE org_id = ${orgId} LIMIT 1`);
  if (people.length > 0) return [];
  const effect = countsPeople ? `${metric.name} is not known` : 'nobody has a team';
  return [`no people are loaded, so ${effect}; load them with daywalk people load`];
}

/** What an answer in money lacks, one sentence each. */
function priceWarnings(prices: AnswerPrices | undefined): string[] {
  const days = prices?.daysWithoutPrice ?? 0;
  if (days === 0) return [];
  const [what, them] =
    days === 1
      ? ['1 day with credits has no price', 'it']
      : [`${days} days with credits have no price`, 'them'];
  return [`${what}, so no cost that includes ${them} is known; load prices with daywalk prices load`];
}

/** The currency of an answer in money, and how many days with credits have no price. */
interface AnswerPrices {
  /** Null if no day with credits has a price. */
  readonly currency: string | null;
  readonly daysWithoutPrice: number;
}

/**
 * Finds the prices of the days on which the rows of a question have credits.
 * @throws {UsageError} if they have more than one currency.
 */
async function pricesOfAnswer(warehouse: Pick<Warehouse, 'select'>, plan: Plan): Promise<AnswerPrices> {
  const prices = await warehouse.select(
    sql`SELECT valid_from, valid_to, currency FROM prices
WHERE org_id = ${plan.orgId} AND valid_from <= ${plan.until} AND (valid_to IS NULL OR valid_to >= ${plan.from})
ORDER BY valid_from`,
  );
  const [only, ...others] = new Set(prices.map((price) => String(price['currency'])));
  // The usual case needs no look at the days: all of them have a price in one currency.
  if (only !== undefined && others.length === 0 && coversPeriod(prices, plan)) {
    return { currency: only, daysWithoutPrice: 0 };
  }
  const days = await warehouse.select(daysByCurrency(plan));
  const priced = days.flatMap(({ currency }) => (typeof currency === 'string' ? currency : []));
  if (priced.length > 1) {
    throw new UsageError(
      `${plan.metric.name} cannot be added over currencies: its days have prices in ${priced.join(' and ')}`,
      { hint: 'choose a period with prices in one currency' },
    );
  }
  const unpriced = days.find(({ currency }) => currency === null);
  return { currency: priced[0] ?? only ?? null, daysWithoutPrice: Number(unpriced?.['days'] ?? 0) };
}

function coversPeriod(prices: readonly QueryRow[], { from, until }: Plan): boolean {
  let next = from;
  for (const { valid_from, valid_to } of prices) {
    if (String(valid_from) > next) return false;
    if (!isDay(valid_to) || valid_to >= until) return true;
    next = shiftDay(valid_to, 1);
  }
  return false;
}

/** The days on which the rows of a question have credits, counted by the currency of their price. */
function daysByCurrency(plan: Plan): SQL {
  const rows = dailyRows({ ...plan, by: [], grain: undefined }, []);
  const days = selectSql(
    {
      columns: [sql`DISTINCT r.date`],
      from: rows.from,
      where: [...rows.where, sql`r.billable_tokens <> 0`],
    },
    '  ',
  );
  const counted = selectSql({
    columns: [sql`p.currency`, sql`COUNT(*) AS days`],
    from: [
      sql`days_with_credits c`,
      sql`LEFT JOIN prices p ON p.org_id = ${plan.orgId}
    AND c.date >= p.valid_from AND (p.valid_to IS NULL OR c.date <= p.valid_to)`,
    ],
    groupBy: [sql`p.currency`],
    orderBy: [sql`p.currency`],
  });
  return withSql([...plan.teams, ...rows.named, { name: 'days_with_credits', body: days }], counted);
}
