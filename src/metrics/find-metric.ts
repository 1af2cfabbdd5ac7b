import { allMetrics, type Metric } from '../../schema/metrics.ts';
import { UsageError } from '../core/errors.ts';
import { nearestName } from '../core/nearest.ts';

/**
 * The metric of a name.
 * @throws {UsageError} if the dictionary has none.
 */
export function findMetric(name: string): Metric {
  const found = allMetrics.find((metric) => metric.name === name);
  if (found !== undefined) return found;
  const names = allMetrics.map((metric) => metric.name);
  const nearest = nearestName(name, names);
  throw new UsageError(`there is no metric "${name}"`, {
    hint: nearest === undefined ? 'daywalk metric lists the names' : `did you mean ${nearest}?`,
  });
}
