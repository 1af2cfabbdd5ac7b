import type { Dialect } from '../../../schema/query.ts';
import {
  metricTemplate,
  type OpenQuestion,
  PERIOD_EXPRESSIONS,
  type PeriodChoice,
  periodQuery,
} from '../../metrics/metric-template.ts';
import { findMetric } from '../../metrics/question.ts';

/**
 * The SQL of a metric that runs as it is, without parameters unless `choice` names some: over the only organization, and the
 * days that `daywalk metric` takes by default. Its first part is the named query `period`.
 * @param choice expressions of the tool for the organization and the days; NULL stands for the default.
 * @throws {UsageError} if the metric does not exist, does not have the dimensions, or does not add up.
 */
export function metricSql(dialect: Dialect, question: OpenQuestion, choice: PeriodChoice = {}): string {
  const { stream } = findMetric(question.metric).source;
  return metricTemplate(dialect, question, PERIOD_EXPRESSIONS, [periodQuery(dialect, stream, choice)]);
}
