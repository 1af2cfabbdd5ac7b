import { DIMENSIONS, type Dimension, type Metric } from '../../../schema/metrics/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import type { WrittenPanel } from './grafana.ts';

/** The question that a panel about a metric asks. */
export interface PanelMetric {
  readonly metric: Metric;
  readonly by: readonly Dimension[];
}

/** The question of a panel, from its title; undefined if it is not about a metric. */
export function metricOfPanel({ title }: Pick<WrittenPanel, 'title'>): PanelMetric | undefined {
  const short = title.replace(/, .*/, '');
  const metric = allMetrics.find((each) => short === each.title || short.startsWith(`${each.title} by `));
  if (metric === undefined) return undefined;
  const names = short.slice(metric.title.length).replace(/^ by /, '').split(' and ');
  const isAsked = (dimension: Dimension) =>
    names.includes(dimension) || metric.title.includes(`by ${dimension}`);
  return { metric, by: DIMENSIONS.filter(isAsked) };
}
