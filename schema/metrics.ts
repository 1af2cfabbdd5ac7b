import type { Metric } from './metrics/define.ts';
import { peopleMetrics, readinessMetrics } from './metrics/people-metrics.ts';
import { publishedMetrics } from './metrics/published-metrics.ts';
import { toolMetrics } from './metrics/tool-metrics.ts';
import { userMetrics } from './metrics/user-metrics.ts';

export {
  type Additivity,
  additivityOf,
  dimensionsOf,
  type Measure,
  type Metric,
  type Term,
} from './metrics/define.ts';
export { DIMENSIONS, type Dimension, GRAINS, type Grain, isGrain } from './metrics/dimensions.ts';

/** A group of metrics of the dictionary, as documentation shows it. */
export interface MetricGroup {
  readonly title: string;
  readonly doc: string;
  readonly metrics: readonly Metric[];
}

/** The dictionary. Every metric is declared once; queries, documentation and dashboards are generated from it. */
export const metricGroups: readonly MetricGroup[] = [
  {
    title: 'Users',
    doc: 'Computed from the rows of `user_daily` and `user_daily_languages`.',
    metrics: userMetrics,
  },
  {
    title: 'Licensed people',
    doc: 'Computed from `people`, see `daywalk people load`.',
    metrics: peopleMetrics,
  },
  {
    title: 'Published by the service',
    doc: 'What the service publishes for the organization as a whole. The numbers can differ from the sums over users.',
    metrics: publishedMetrics,
  },
  { title: 'Tools', doc: 'Computed from the breakdowns of the stream `tools`.', metrics: toolMetrics },
  { title: 'Readiness', doc: 'Computed from the readiness reports.', metrics: readinessMetrics },
];

/** Every metric, in the order of the documentation. */
export const allMetrics: readonly Metric[] = metricGroups.flatMap(({ metrics }) => metrics);
