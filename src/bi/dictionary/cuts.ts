import { type Dimension, dimensionsOf, type Metric } from '../../../schema/metrics.ts';

/**
 * Every way to ask for a metric with at most one dimension: in total, then by each of its dimensions. A metric that is
 * published for single days has only one, by date, with the dimension that it needs.
 */
export function cutsOf(metric: Metric): readonly (readonly Dimension[])[] {
  const { measure } = metric;
  if (measure.kind === 'snapshot') return [['date', ...(measure.needs === undefined ? [] : [measure.needs])]];
  return [[], ...dimensionsOf(metric).map((dimension) => [dimension])];
}
