import { allMetrics, type Metric } from '../../../schema/metrics.ts';

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
