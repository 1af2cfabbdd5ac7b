import { additivityOf, allMetrics, dimensionsOf, GRAINS } from '../../../../schema/metrics.ts';
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

/** Below this width there is no room for the titles; the names say the same. */
const WIDTH_WITH_TITLES = 110;

/** Draws the list of metrics, one per line. The dimensions of all of them are named once, below. */
export function renderMetrics(metrics: readonly ListedMetric[], frame: ScreenFrame): string[] {
  const hasTitles = frame.width >= WIDTH_WITH_TITLES;
  const columns = ['metric', 'also by', shrinking('unit'), ...(hasTitles ? [shrinking('title')] : [])];
  const rows = metrics.map(({ name, unit, title, dimensions }) => {
    const further = dimensions.filter((dimension) => !GRAINS.some((grain) => grain === dimension));
    return [name, further.join(', '), unit, ...(hasTitles ? [title] : [])];
  });
  return [
    ...renderTable(columns, rows, frame),
    frame.style.dim(`by ${GRAINS.join(', ')}, and also by what is listed; --json adds descriptions`),
  ];
}
