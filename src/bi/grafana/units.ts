import type { Metric } from '../../../schema/metrics.ts';
import { combiningOf } from '../dictionary/combining.ts';
import { shownUnit } from '../dictionary/shown-unit.ts';

/** The unit of Grafana for the values of a metric. Files do not know the currency of the prices, so costs have none. */
export function grafanaUnit({ unit }: Pick<Metric, 'unit'>): 'percentunit' | 'short' {
  return unit === 'ratio' ? 'percentunit' : 'short';
}

/** What a panel says about a metric: its meaning, its unit, and whether its values may be summed. */
export function metricNote(metric: Metric): string {
  return `${metric.doc} In ${shownUnit(metric)}. ${combiningOf(metric)}`;
}
