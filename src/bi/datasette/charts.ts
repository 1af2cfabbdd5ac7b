import type { Dimension } from '../../../schema/metrics.ts';
import { findMetric } from '../../metrics/question.ts';
import { metricSql } from '../dictionary/metric-sql.ts';
import { shownUnit } from '../dictionary/shown-unit.ts';
import { CHOSEN } from './parameters.ts';

/** The name of the database in Datasette: that of the file without its ending. */
export const DATABASE = 'daywalk';

/**
 * A chart of datasette-dashboards. Only `vega-lite` is used: its texts are drawn, while tables of the plugin insert names
 * into the page as HTML.
 */
export interface Chart {
  readonly title: string;
  readonly db: string;
  readonly library: 'vega-lite';
  readonly query: string;
  readonly display: object;
}

/** The version that datasette-dashboards 0.8 brings. */
const VEGA_LITE = 'https://vega.github.io/schema/vega-lite/v6.json';

/** A chart of a metric in time. A bucket without a stored day is a gap in the line. */
export function lineChart(metric: string, grain: 'date' | 'week' | 'month', part?: Dimension): Chart {
  const by = part === undefined ? [grain] : [grain, part];
  const time =
    grain === 'month'
      ? { field: grain, type: 'ordinal', title: null }
      : // The days are UTC days: without this unit, browsers west of Greenwich would show the day before.
        { field: grain, timeUnit: 'utcyearmonthdate', type: 'temporal', title: null };
  return chartOf(metric, by, {
    mark: { type: 'line', point: true, tooltip: true },
    encoding: {
      x: time,
      y: valueAxis(metric),
      ...(part !== undefined && { color: { field: part, type: 'nominal', title: part } }),
    },
  });
}

/** The most bars of a chart, so that their names can be read. */
const BARS_MAX = 20;
const BARS_HEIGHT = 320;

/** A chart of a metric by the values of a dimension, the largest first. */
export function barChart(metric: string, part: Dimension): Chart {
  const chart = chartOf(metric, [part], {
    height: BARS_HEIGHT,
    transform: [
      {
        window: [{ op: 'row_number', as: 'rank' }],
        sort: [{ field: 'value', order: 'descending' }],
      },
      { filter: `datum.rank <= ${BARS_MAX}` },
      { calculate: `datum.${part} === null ? 'unassigned' : datum.${part}`, as: part },
    ],
    mark: { type: 'bar', tooltip: true },
    encoding: { y: { field: part, type: 'nominal', sort: '-x', title: null }, x: valueAxis(metric) },
  });
  return { ...chart, title: `${chart.title}, at most the ${BARS_MAX} largest` };
}

function chartOf(metric: string, by: readonly Dimension[], display: object): Chart {
  const { title } = findMetric(metric);
  return {
    title: `${title} by ${by.join(' and ')}`,
    db: DATABASE,
    library: 'vega-lite',
    query: metricSql('sqlite', { metric, by }, CHOSEN),
    display: { $schema: VEGA_LITE, ...display },
  };
}

/** Values of one column and bucket, never added up by the chart. */
function valueAxis(metric: string) {
  return { field: 'value', type: 'quantitative', title: shownUnit(findMetric(metric)), stack: null };
}
