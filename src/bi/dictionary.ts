import type { Column } from '../../schema/define.ts';
import {
  type Additivity,
  additivityOf,
  allMetrics,
  type Dimension,
  dimensionsOf,
  type Metric,
} from '../../schema/metrics/dictionary.ts';
import type { Dialect } from '../../schema/query.ts';
import { findMetric } from '../metrics/index.ts';
import {
  metricTemplate,
  type OpenQuestion,
  PERIOD_EXPRESSIONS,
  type PeriodChoice,
  periodQuery,
} from './metric-template.ts';

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

/**
 * Every way to ask for a metric with at most one dimension: in total, then by each of its dimensions. A metric that is
 * published for single days has only one, by date, with the dimension that it needs.
 */
export function cutsOf(metric: Metric): readonly (readonly Dimension[])[] {
  const { measure } = metric;
  if (measure.kind === 'snapshot') return [['date', ...(measure.needs === undefined ? [] : [measure.needs])]];
  return [[], ...dimensionsOf(metric).map((dimension) => [dimension])];
}

/** The unit of a metric for people. Files do not know the currency of the prices. */
export function shownUnit({ unit }: Pick<Metric, 'unit'>): string {
  return unit === 'currency' ? 'the currency of the prices' : unit;
}

const SENTENCES: Readonly<Record<Additivity, string>> = {
  sum: 'Values may be added over all dimensions.',
  'distinct count':
    'Do not sum: a user counts once in each group. Ask again for the longer period or larger group.',
  ratio: 'Do not sum or average: the ratio is recomputed for each group.',
  'end of period': 'Do not sum over days: the value is the state on the last day of the period.',
  'one day only': 'Do not sum or average: the service publishes it for single days.',
};

/** How the values of a metric may be combined, for people: whether a tool may sum them. */
export function combiningOf(metric: Metric): string {
  return SENTENCES[additivityOf(metric)];
}

/** What a column means, its unit if it has one, and whether its values may be added up, for people. */
export function columnNote({ doc, additive }: Column, unit: string | undefined): string {
  return [
    doc,
    ...(unit === undefined ? [] : [`; in ${unit}`]),
    ...(additive === false ? ['. Do not sum over days or groups'] : []),
  ].join('');
}

/** The unit of each column that a metric adds up or shows as published, by table and column: `tokens_daily.input_tokens`. */
export function columnUnits(): ReadonlyMap<string, string> {
  return new Map(
    allMetrics.flatMap((metric) => {
      const column = columnOf(metric);
      const sources = [metric.source, ...(metric.breakdown === undefined ? [] : [metric.breakdown])];
      return column === undefined
        ? []
        : sources.map(({ table }) => [`${table.name}.${column}`, metric.unit] as const);
    }),
  );
}

function columnOf({ measure }: Metric): string | undefined {
  if (measure.kind === 'snapshot') return measure.column;
  if (measure.kind !== 'term' || measure.term.kind !== 'sum') return undefined;
  const [only, ...others] = measure.term.columns;
  return others.length > 0 ? undefined : only;
}
