import type { Dimension } from '../schema/metrics/dictionary.ts';
import {
  type CausesAnswer,
  type ComparedAnswer,
  type Comparison,
  compareMetric,
  type RankedAnswer,
  type RankOrder,
  rankMetric,
  readCauses,
  readUnusual,
  type UnusualAnswer,
} from '../src/comparison/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { dayOf, expectOver, type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import {
  answerMetric,
  findMetric,
  findTeam,
  type MetricAnswer,
  type MetricQuestion,
  metricSql,
  type Period,
  readCohorts,
  resolveFilters,
} from '../src/metrics/index.ts';
import { chooseOrganization } from '../src/organizations/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse } from '../src/warehouse/index.ts';

/** What a question needs besides the settings. */
type Job = Pick<JobContext, 'clock' | 'signal'>;

/** The most rows of an answer, so that it fits into memory. */
const ANSWER_ROWS_MAX = 1_000_000;

/** A question as a person asks it. */
export interface AskedMetric {
  readonly metric: string;
  readonly by: readonly Dimension[];
  readonly from?: UtcDay | undefined;
  readonly until?: UtcDay | undefined;
  /** Name of a team; `unassigned` means without one. */
  readonly team?: string | undefined;
  /** A user ID. */
  readonly user?: string | undefined;
  /** Only rows with these values; a team, a user or a period may be given here instead. @default all rows */
  readonly filters?: Readonly<Partial<Record<Dimension, string>>> | undefined;
  /** Compares with another span: how it is found, or the span itself. */
  readonly compare?: Comparison | Period | undefined;
  /** So many of the largest rows, see {@link readRankedMetric}. @default all */
  readonly top?: number | undefined;
  /** The order of the rows, see {@link readRankedMetric}. @default by value with `top`; otherwise by the dimensions */
  readonly order?: RankOrder | undefined;
  /** The organization; the only one by default. */
  readonly organization?: string | undefined;
}

/**
 * Answers a question about a metric. Writes nothing, and may be repeated.
 * @throws {UsageError} when there is no such warehouse, organization, metric, dimension, team or user, when the metric
 * does not add up, or when the answer has more than {@link ANSWER_ROWS_MAX} rows.
 */
export function readMetric(
  settings: Settings,
  asked: AskedMetric,
  job: Job,
): Promise<MetricAnswer | ComparedAnswer> {
  return withQuestion(settings, asked, job, async (warehouse, question) => {
    const { compare } = asked;
    const answer = await (compare === undefined
      ? answerMetric(warehouse, question)
      : compareMetric(warehouse, question, compare));
    return withRowsMax(answer);
  });
}

/**
 * Answers a question about a metric with its rows in an order, the largest of them, the others together, and the total; see
 * `rankMetric`. Without `top` and `order`, the rows are those of {@link readMetric}, and the total is there, too. Writes nothing,
 * and may be repeated.
 * @throws {UsageError} as {@link readMetric} does.
 */
export function readRankedMetric(settings: Settings, asked: AskedMetric, job: Job): Promise<RankedAnswer> {
  const { top, order, compare } = asked;
  return withQuestion(settings, asked, job, async (warehouse, question) =>
    withRowsMax(await rankMetric(warehouse, question, { top, order, comparison: compare })),
  );
}

function withRowsMax<Answer extends MetricAnswer>(answer: Answer): Answer {
  if (answer.rows.length <= ANSWER_ROWS_MAX) return answer;
  throw new UsageError(`the answer has ${answer.rows.length} rows, more than ${ANSWER_ROWS_MAX}`, {
    hint: 'ask for a shorter period, or for fewer dimensions',
  });
}

/** What a person asks about cohorts. */
type AskedCohorts = Pick<AskedMetric, 'metric' | 'from' | 'until' | 'organization'>;

export type CohortAnswer = Awaited<ReturnType<typeof readCohorts>>;

/**
 * Follows people from the month of their first activity, see `readCohorts`. Writes nothing, and may be repeated.
 * @throws {UsageError} when there is no such warehouse or organization, for a metric that cannot be followed, and where the first
 * activity of people is not known.
 */
export function readCohortsOf(settings: Settings, asked: AskedCohorts, job: Job): Promise<CohortAnswer> {
  const { metric, from, until } = asked;
  findMetric(metric);
  return withOrganization(settings, asked, job, (warehouse, orgId) =>
    readCohorts(warehouse, { metric, orgId, from, until }),
  );
}

/** The name by which `daywalk metric` knows the causes; they are no metric of the dictionary, because they are about two spans. */
export const CAUSES_NAME = 'causes';

/**
 * Explains the change of the cost by its causes. Writes nothing, and may be repeated.
 * @throws {UsageError} when there is no such warehouse, organization or team, when nothing is loaded, and for two currencies.
 */
export function readCausesOf(settings: Settings, asked: AskedMetric, job: Job): Promise<CausesAnswer> {
  const { from, until, team, compare } = asked;
  return withOrganization(settings, asked, job, async (warehouse, orgId) => {
    const own = team === undefined ? undefined : await findTeam(warehouse, orgId, team);
    return readCauses(warehouse, { orgId, from, until, team: own, comparison: compare });
  });
}

/**
 * Finds the values of a metric that are far from those of the same weekday before. Writes nothing, and may be repeated.
 * @throws {UsageError} when there is no such warehouse, organization or metric, or when the metric does not add up.
 */
export function readUnusualOf(settings: Settings, asked: AskedMetric, job: Job): Promise<UnusualAnswer> {
  const { metric, from, until, by } = asked;
  findMetric(metric);
  return withOrganization(settings, asked, job, (warehouse, orgId) =>
    readUnusual(warehouse, { metric, orgId, kinds: by, from, until }),
  );
}

/**
 * The SQL that {@link readMetric} runs, with its values as literals, for the database of the warehouse. Writes nothing.
 * @throws {UsageError} as {@link readMetric} does.
 */
export function readMetricSql(settings: Settings, asked: AskedMetric, job: Job): Promise<string> {
  return withQuestion(settings, asked, job, metricSql);
}

/** Opens the warehouse for a question about one organization. Refuses days that are not over, as pages and reports do. */
function withOrganization<Result>(
  { warehouse: location, queryTimeout }: Settings,
  { organization, until, compare }: Pick<AskedMetric, 'organization' | 'until' | 'compare'>,
  { clock, signal }: Job,
  use: (warehouse: Warehouse, orgId: string) => Promise<Result>,
): Promise<Result> {
  const ends = [until, typeof compare === 'object' ? compare.until : undefined];
  for (const end of ends) expectOver(end, yesterdayOf(clock.now()));
  return readWarehouse(location, { clock, signal, statementMsMax: queryTimeout }, async (warehouse) =>
    use(warehouse, await chooseOrganization(warehouse, organization)),
  );
}

function withQuestion<Result>(
  settings: Settings,
  asked: AskedMetric,
  job: Job,
  use: (warehouse: Warehouse, question: MetricQuestion) => Promise<Result>,
): Promise<Result> {
  // A misspelt name needs no warehouse.
  findMetric(asked.metric);
  const today = dayOf(job.clock.now());
  return withOrganization(settings, asked, job, async (warehouse, orgId) =>
    use(warehouse, await questionOf(warehouse, orgId, { asked, today })),
  );
}

/**
 * The question that a person asks, with its team, user and values checked.
 * @throws {UsageError} for one that does not exist, and for a filter that the metric does not have.
 */
async function questionOf(
  warehouse: Warehouse,
  orgId: string,
  { asked, today }: { readonly asked: AskedMetric; readonly today: UtcDay },
): Promise<MetricQuestion> {
  const { metric, by, from, until, team, user, filters = {} } = asked;
  const twice = (['team', 'user'] as const).find(
    (name) => asked[name] !== undefined && filters[name] !== undefined,
  );
  if (twice !== undefined) throw new UsageError(`the ${twice} is given twice`, { hint: 'give it once' });
  const given = {
    ...filters,
    ...(team === undefined ? {} : { team }),
    ...(user === undefined ? {} : { user }),
  };
  const found = await resolveFilters(warehouse, { orgId, metric, filters: given, from, until, today });
  return { metric, orgId, by, ...found };
}
