import { additivityOf, allMetrics, dimensionsOf } from '../../../../schema/metrics.ts';
import type { ScreenFrame } from '../../output/output.ts';
import { renderTable, shrinking } from '../../text/table.ts';

/** A metric as the list shows it. */
export interface ListedMetric {
  readonly name: string;
  readonly unit: string;
  readonly title: string;
  readonly description: string;
  readonly dimensions: readonly string[];
  /** How its values may be combined. */
  readonly additivity: string;
}

/** Every metric of the dictionary. */
export function listMetrics(): ListedMetric[] {
  return allMetrics.map((metric) => ({
    name: metric.name,
    unit: metric.unit,
    title: metric.title,
    description: metric.doc,
    dimensions: dimensionsOf(metric),
    additivity: additivityOf(metric),
  }));
}

const COLUMNS = ['metric', 'unit', shrinking('title'), shrinking('dimensions')];

/** Draws the list of metrics, one per line. */
export function renderMetrics(metrics: readonly ListedMetric[], frame: ScreenFrame): string[] {
  const rows = metrics.map(({ name, unit, title, dimensions }) => [name, unit, title, dimensions.join(', ')]);
  return [
    ...renderTable(COLUMNS, rows, frame),
    frame.style.dim('--json adds a description of each, and how its values may be combined'),
  ];
}
