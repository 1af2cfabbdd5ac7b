import {
  isCounter,
  METRICS,
  type MetricDefinition,
  SERVICE_METRICS,
} from '../src/serve/metrics/definitions.ts';

/** Every metric of Daywalk, as a table of Markdown. */
export function metricsTable(): string {
  const all: readonly MetricDefinition[] = [...Object.values(METRICS), ...Object.values(SERVICE_METRICS)];
  const rows = all.map(
    (metric) =>
      `| \`${metric.name}\` | ${isCounter(metric) ? 'counter' : 'gauge'} | ${metric.labels.map((label) => `\`${label}\``).join(', ')} | ${metric.help} |`,
  );
  return `${['| metric | type | labels | |', '|---|---|---|---|', ...rows].join('\n')}\n`;
}
