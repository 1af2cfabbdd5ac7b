import type { Dimension } from '../schema/metrics/dictionary.ts';
import {
  type CausesAnswer,
  type ComparedAnswer,
  type Comparison,
  compareMetric,
  readCauses,
  readUnusual,
  type UnusualAnswer,
} from '../src/comparison/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import type { UtcDay } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import {
  answerMetric,
  checkUser,
  findMetric,
  findTeam,
  type MetricAnswer,
  type MetricQuestion,
  metricSql,
  type Period,
} from '../src/metrics/index.ts';
import { chooseOrganization } from '../src/organizations/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse } from '../src/warehouse/index.ts';

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
  /** Compares with another span: how it is found, or the span itself. */
  readonly compare?: Comparison | Period | undefined;
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
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<MetricAnswer | ComparedAnswer> {
  return withQuestion(settings, asked, context, async (warehouse, question) => {
    const { compare } = asked;
    const answer = await (compare === undefined
      ? answerMetric(warehouse, question)
      : compareMetric(warehouse, question, compare));
    if (answer.rows.length <= ANSWER_ROWS_MAX) return answer;
    throw new UsageError(`the answer has ${answer.rows.length} rows, more than ${ANSWER_ROWS_MAX}`, {
      hint: 'ask for a shorter period, or for fewer dimensions',
    });
  });
}

/** The name by which `daywalk metric` knows the causes; they are no metric of the dictionary, because they are about two spans. */
export const CAUSES_NAME = 'causes';

/**
 * Explains the change of the cost by its causes. Writes nothing, and may be repeated.
 * @throws {UsageError} when there is no such warehouse, organization or team, when nothing is loaded, and for two currencies.
 */
export function readCausesOf(
  { warehouse: location, queryTimeout }: Settings,
  { organization, from, until, team, compare }: AskedMetric,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<CausesAnswer> {
  return readWarehouse(location, { clock, signal, statementMsMax: queryTimeout }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    const own = await teamOf(warehouse, orgId, team);
    return readCauses(warehouse, { orgId, from, until, team: own, comparison: compare });
  });
}

/**
 * Finds the values of a metric that are far from those of the same weekday before. Writes nothing, and may be repeated.
 * @throws {UsageError} when there is no such warehouse, organization or metric, or when the metric does not add up.
 */
export function readUnusualOf(
  { warehouse: location, queryTimeout }: Settings,
  { metric, organization, from, until, by }: AskedMetric,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<UnusualAnswer> {
  findMetric(metric);
  return readWarehouse(location, { clock, signal, statementMsMax: queryTimeout }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    return readUnusual(warehouse, { metric, orgId, kinds: by, from, until });
  });
}

/**
 * The SQL that {@link readMetric} runs, with its values as literals, for the database of the warehouse. Writes nothing.
 * @throws {UsageError} as {@link readMetric} does.
 */
export function readMetricSql(
  settings: Settings,
  asked: AskedMetric,
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<string> {
  return withQuestion(settings, asked, context, metricSql);
}

function withQuestion<Result>(
  { warehouse: location, queryTimeout }: Settings,
  asked: AskedMetric,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
  use: (warehouse: Warehouse, question: MetricQuestion) => Promise<Result>,
): Promise<Result> {
  // A misspelt name needs no warehouse.
  findMetric(asked.metric);
  return readWarehouse(location, { clock, signal, statementMsMax: queryTimeout }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, asked.organization);
    const { metric, by, from, until, user } = asked;
    if (user !== undefined) await checkUser(warehouse, orgId, user);
    const team = await teamOf(warehouse, orgId, asked.team);
    return use(warehouse, { metric, orgId, by, from, until, team, user });
  });
}

async function teamOf(warehouse: Warehouse, orgId: string, name: string | undefined) {
  return name === undefined ? undefined : findTeam(warehouse, orgId, name);
}
