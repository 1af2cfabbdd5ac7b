import type { Metric } from '../../../schema/metrics.ts';

/** The unit of a metric for people. Files do not know the currency of the prices. */
export function shownUnit({ unit }: Pick<Metric, 'unit'>): string {
  return unit === 'currency' ? 'the currency of the prices' : unit;
}
