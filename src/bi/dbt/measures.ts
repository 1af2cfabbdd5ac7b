import type { Source } from '../../../schema/metrics/define.ts';
import { allMetrics, type Metric } from '../../../schema/metrics/dictionary.ts';
import type { Yaml } from '../yaml.ts';

/** Something that MetricFlow aggregates: the only part of a metric that reads rows. Its name is that of a metric. */
export interface Measure {
  readonly name: string;
  readonly title: string;
  readonly doc: string;
  readonly source: Source;
  readonly agg: 'sum' | 'max' | 'average' | 'count_distinct';
  readonly expr: string;
  /** True if the value is that of the last day of a period, never of several days. */
  readonly isOfLastDay: boolean;
}

/** The users of all organizations differ, also if an ID occurs twice. */
const USER = "org_id || '/' || user_id";

/** Every measure of the package. */
export function allMeasures(): readonly Measure[] {
  const own = allMetrics.filter(({ name }) => LEFT_OUT[name] === undefined).flatMap(measuresOf);
  return [...own, ...costMeasures()];
}

function measuresOf(metric: Metric): readonly Measure[] {
  const { name, title, doc, source, breakdown, measure } = metric;
  const of = (agg: Measure['agg'], expr: string, isOfLastDay = false): Measure => ({
    ...{ name, title, doc, source, agg, expr, isOfLastDay },
  });
  switch (measure.kind) {
    case 'term': {
      if (measure.term.kind === 'users') return [of('count_distinct', USER)];
      if (measure.term.kind === 'cost') return [];
      const [column = '', ...others] = measure.term.columns;
      if (others.length > 0 || measure.term.where !== undefined) {
        throw new TypeError(`${name} is more than the sum of a column: declare how MetricFlow computes it`);
      }
      const total = of('sum', column);
      return breakdown === undefined ? [total] : [total, inParts(total, breakdown)];
    }
    case 'ratio':
      return [measure.numerator, measure.denominator].flatMap((term) =>
        term.kind !== 'sum' || term.where === undefined ? [] : [partOf(metric, term.where.rollupColumn)],
      );
    case 'snapshot':
      // Of several organizations the largest value: they must not be added.
      return [of('max', measure.column, true)];
    case 'new users':
      return [of('sum', 'new_users')];
    case 'licensed users':
      return [of('sum', 'licensed_users', true)];
    case 'readiness score':
      return [of('average', 'readiness_score', true)];
    case 'inactive users':
      return [];
  }
}

/** The same numbers in parts, which have more dimensions. */
function inParts(total: Measure, breakdown: Source): Measure {
  const parts = Object.keys(breakdown.columns);
  return {
    ...total,
    name: `${total.name}_by_${parts[0]}`,
    title: `${total.title} by ${parts.join(' and ')}`,
    doc: `${total.doc} By ${parts.join(' and ')}.`,
    source: breakdown,
  };
}

function partOf({ source, doc }: Metric, column: string): Measure {
  const title = column.replaceAll('_', ' ');
  return {
    name: column,
    title: title.slice(0, 1).toUpperCase() + title.slice(1),
    doc: `The part that counts in: ${doc}`,
    ...{ source, agg: 'sum', expr: column, isOfLastDay: false },
  };
}

function costMeasures(): readonly Measure[] {
  return allMetrics
    .filter(({ measure }) => measure.kind === 'term' && measure.term.kind === 'cost')
    .flatMap(({ source }) => {
      const part = (name: string, title: string, doc: string): Measure => ({
        ...{ name, title, doc, source, agg: 'sum', expr: name, isOfLastDay: false },
      });
      return [
        part(
          'cost_of_priced_days',
          'Cost of priced days',
          'A part of cost: days without a price are left out.',
        ),
        part('unpriced_user_days', 'Days without a price', 'Days of users with credits but without a price.'),
        {
          ...part('cost_currencies', 'Currencies', 'Number of currencies of the prices.'),
          agg: 'count_distinct' as const,
          expr: 'paid_currency',
        },
      ];
    });
}

/** A measure as MetricFlow reads it. */
export function measureYaml({ name, title, doc, agg, expr, isOfLastDay }: Measure): Yaml {
  return {
    name,
    label: title,
    description: doc,
    agg,
    expr,
    // Organizations have newest days of their own.
    non_additive_dimension: isOfLastDay
      ? { name: 'date', window_choice: 'max', window_groupings: ['organization'] }
      : undefined,
  };
}

/** The metrics of the dictionary that MetricFlow cannot express without giving wrong numbers, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  inactive_users:
    'It compares the people of the last day with the users of all days of the same period. A metric of MetricFlow counts ' +
    'rows, and no row says who had no activity in a period that is only known when the question is asked.',
  published_client_dau:
    'Someone who uses several clients counts once in each, so it has a value only by client. MetricFlow cannot require a ' +
    'dimension, and without one it would combine the clients.',
};
