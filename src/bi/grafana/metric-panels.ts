import type { Dimension, Grain, Metric } from '../../../schema/metrics/dictionary.ts';
import { findMetric } from '../../metrics/question.ts';
import { combiningOf, metricSql, shownUnit } from '../dictionary.ts';
import { type DataSource, TIME } from './data-source.ts';
import { barPanel, linePanel, type PanelMaker, type Shown, statPanel, type ThresholdStep } from './panel.ts';

const HOUR_MS = 3_600_000;

/** The distance of two points of a line between which a bucket is missing. */
const GAP_MS: Readonly<Record<Exclude<Grain, 'month'>, number>> = {
  date: 36 * HOUR_MS,
  week: 10 * 24 * HOUR_MS,
};

/** A metric over the chosen days, as one number. */
export function total(name: string, thresholds?: readonly ThresholdStep[]): PanelMaker {
  return (source) => {
    const sql = wrapped(source, name, [], [`${source.numberOf('m.value')} AS value`]);
    return statPanel(source, { ...shownOf(name, [], sql), ...(thresholds && { thresholds }) });
  };
}

/** A metric by date or week as a line, or as a line for each value of a dimension. */
export function line(name: string, grain: Exclude<Grain, 'month'>, part?: Dimension): PanelMaker {
  return (source) => {
    const by = part === undefined ? [grain] : [grain, part];
    const columns = [
      `${source.instantOf(`m.${grain}`)} AS "${TIME}"`,
      ...(part === undefined ? [] : [`m.${part} AS ${part}`]),
      `${source.numberOf('m.value')} AS value`,
    ];
    // A bucket without rows has no part. Its gap comes from the distance of its neighbours.
    const end = part === undefined ? 'ORDER BY 1' : `WHERE m.${part} IS NOT NULL\nORDER BY 1, 2`;
    return linePanel(source, shownOf(name, by, wrapped(source, name, by, columns, end)), {
      axisLabel: shownUnit(findMetric(name)),
      name: part === undefined ? findMetric(name).title : { part },
      gapMs: GAP_MS[grain],
    });
  };
}

/** A metric by month. The first and the last month have only their chosen days. */
export function byMonth(name: string, thresholds?: readonly ThresholdStep[]): PanelMaker {
  return (source) => {
    const columns = ['m.month AS month', `${source.numberOf('m.value')} AS value`];
    const sql = wrapped(source, name, ['month'], columns, 'ORDER BY 1');
    const shown = { ...shownOf(name, ['month'], sql), ...(thresholds && { thresholds }) };
    return barPanel(source, shown, barStyle(name, 'month', false));
  };
}

/** The most bars of a panel, so that their names can be read. */
const BARS_MAX = 20;

/** A metric by the values of a dimension, the largest first. */
export function byPart(name: string, part: Dimension, thresholds?: readonly ThresholdStep[]): PanelMaker {
  return (source) => {
    const columns = [
      `COALESCE(m.${part}, 'unassigned') AS ${part}`,
      `${source.numberOf('m.value')} AS value`,
    ];
    const end = `WHERE m.value IS NOT NULL\nORDER BY 2 DESC, 1\nLIMIT ${BARS_MAX}`;
    const shown = shownOf(name, [part], wrapped(source, name, [part], columns, end));
    const title = `${shown.title}, at most the ${BARS_MAX} largest`;
    return barPanel(
      source,
      { ...shown, title, ...(thresholds && { thresholds }) },
      barStyle(name, part, true),
    );
  };
}

const barStyle = (name: string, by: Dimension, isHorizontal: boolean) => {
  const metric = findMetric(name);
  return { axisLabel: shownUnit(metric), by, name: metric.title, isHorizontal };
};

function shownOf(name: string, by: readonly Dimension[], sql: string): Shown {
  const metric = findMetric(name);
  // Some titles name a dimension already: users by language.
  const added = by.filter((dimension) => !metric.title.includes(`by ${dimension}`));
  const title = added.length === 0 ? metric.title : `${metric.title} by ${added.join(' and ')}`;
  return { title, description: metricNote(metric), sql, unit: grafanaUnit(metric) };
}

/** The SQL of the dictionary as a table `m`, with the columns that a panel needs. */
function wrapped(
  source: DataSource,
  metric: string,
  by: readonly Dimension[],
  columns: readonly string[],
  end?: string,
): string {
  const inner = metricSql(source.dialect, { metric, by }, source.chosen);
  return [
    `SELECT ${columns.join(', ')}`,
    'FROM (',
    inner,
    ') AS m',
    ...(end === undefined ? [] : [end]),
  ].join('\n');
}

/** The unit of Grafana for the values of a metric. Files do not know the currency of the prices, so costs have none. */
export function grafanaUnit({ unit }: Pick<Metric, 'unit'>): 'percentunit' | 'short' {
  return unit === 'ratio' ? 'percentunit' : 'short';
}

/** What a panel says about a metric: its meaning, its unit, and whether its values may be summed. */
export function metricNote(metric: Metric): string {
  return `${metric.doc} In ${shownUnit(metric)}. ${combiningOf(metric)}`;
}
