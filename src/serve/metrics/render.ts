import { Counter, Gauge, Registry } from '@prometheus-io/client';
import { METRICS, type MetricDefinition, type Sample } from './definitions.ts';

/** How every text begins. */
export const FIRST_BYTES = '# HELP daywalk_';

/**
 * The samples in the text format of Prometheus, version 0.0.4, in the order of the definitions. A metric without a sample is
 * left out. The library escapes the labels.
 */
export function renderSamples(samples: readonly Sample[]): Promise<string> {
  const registry = new Registry();
  for (const [key, definition] of Object.entries<MetricDefinition>(METRICS)) {
    const own = samples.filter(({ metric }) => metric === key);
    if (own.length === 0) continue;
    const { name, type, help, labels } = definition;
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    const metric = type === 'counter' ? new Counter(options) : new Gauge(options);
    for (const { labels: values, value } of own) metric.inc({ ...values }, value);
  }
  return registry.metrics();
}
