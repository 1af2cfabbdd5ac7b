import type { Dimension, Grain, Metric } from '../../../schema/metrics/dictionary.ts';
import { findMetric } from '../../metrics/index.ts';
import { combiningOf, metricSql, shownUnit } from '../dictionary.ts';
import { chosenSource, type DataSource, type QueryFormat, TIME } from './data-source.ts';

/** A colour from a value on; the first step has no value. */
export interface ThresholdStep {
  readonly color: 'green' | 'yellow' | 'red' | 'text';
  readonly value: number | null;
}

/** What a panel shows, before it has a place on its dashboard. */
interface PanelContent {
  readonly type: 'timeseries' | 'stat' | 'barchart' | 'table';
  readonly title: string;
  readonly description: string;
  readonly targets: readonly Readonly<Record<string, unknown>>[];
  readonly fieldConfig: FieldConfig;
  readonly options: Readonly<Record<string, unknown>>;
}

interface FieldConfig {
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly overrides: readonly Override[];
}

interface Override {
  readonly matcher: { readonly id: 'byName'; readonly options: string };
  readonly properties: readonly { readonly id: string; readonly value: unknown }[];
}

/** A panel with its place on a dashboard. */
export interface Panel extends PanelContent {
  readonly id: number;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource: { readonly type: string; readonly uid: string };
}

/** Makes a panel for a data source. */
export type PanelMaker = (source: DataSource) => PanelContent;

/** What all kinds of panels are made from. */
interface Shown {
  readonly title: string;
  readonly description: string;
  readonly sql: string;
  readonly unit: string;
  /** @default one colour */
  readonly thresholds?: readonly ThresholdStep[];
}

const ONE_COLOR: readonly ThresholdStep[] = [{ color: 'text', value: null }];

const defaultsOf = ({ unit, thresholds = ONE_COLOR }: Shown) => ({
  unit,
  noValue: '–',
  thresholds: { mode: 'absolute', steps: thresholds },
});

const base = (source: DataSource, { title, description, sql }: Shown, format: QueryFormat) => ({
  title,
  description,
  targets: [{ ...source.target(sql, format), datasource: chosenSource(source) }],
});

/** One number. The SQL gives one row with one column. */
export function statPanel(source: DataSource, shown: Shown): PanelContent {
  return {
    type: 'stat',
    ...base(source, shown, 'table'),
    fieldConfig: {
      defaults: { ...defaultsOf(shown), color: { mode: 'thresholds' } },
      overrides: [],
    },
    options: {
      colorMode: 'value',
      graphMode: 'none',
      justifyMode: 'auto',
      orientation: 'auto',
      percentChangeColorMode: 'standard',
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      showPercentChange: false,
      textMode: 'value',
      wideLayout: true,
    },
  };
}

/** How lines are drawn. */
interface LineStyle {
  readonly axisLabel: string;
  /** The name of the only line, or the column whose values name the lines. */
  readonly name: string | { readonly part: string };
  /** A longer distance between two points is a gap. */
  readonly gapMs: number;
  /** @default lines */
  readonly isStacked?: boolean;
}

/** Values over time. The SQL gives the columns `time`, `value` and, for several lines, one with their names. */
export function linePanel(source: DataSource, shown: Shown, style: LineStyle): PanelContent {
  const { axisLabel, name, gapMs, isStacked = false } = style;
  return {
    type: 'timeseries',
    ...base(source, shown, 'time series'),
    fieldConfig: {
      defaults: {
        ...defaultsOf(shown),
        color: { mode: 'palette-classic' },
        displayName: typeof name === 'string' ? name : `\${__field.labels.${name.part}}`,
        min: 0,
        custom: {
          axisLabel,
          drawStyle: isStacked ? 'bars' : 'line',
          fillOpacity: isStacked ? 60 : 0,
          lineWidth: 1,
          pointSize: 4,
          showPoints: isStacked ? 'never' : 'always',
          // A day that is not stored is a gap, never a line between its neighbours.
          spanNulls: false,
          insertNulls: gapMs,
          stacking: { group: 'A', mode: isStacked ? 'normal' : 'none' },
        },
      },
      overrides: [],
    },
    options: {
      legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: typeof name !== 'string' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}

/** How bars are drawn. */
interface BarStyle {
  readonly axisLabel: string;
  /** The column with the names of the bars. */
  readonly by: string;
  readonly name: string;
  readonly isHorizontal: boolean;
}

/** A bar for each row. The SQL gives the names of the bars and the column `value`. */
export function barPanel(source: DataSource, shown: Shown, style: BarStyle): PanelContent {
  const { axisLabel, by, name, isHorizontal } = style;
  return {
    type: 'barchart',
    ...base(source, shown, 'table'),
    fieldConfig: {
      defaults: {
        ...defaultsOf(shown),
        color: { mode: shown.thresholds === undefined ? 'palette-classic' : 'thresholds' },
        min: 0,
        custom: { axisLabel, fillOpacity: 80, gradientMode: 'none', lineWidth: 1 },
      },
      overrides: [
        { matcher: { id: 'byName', options: 'value' }, properties: [{ id: 'displayName', value: name }] },
      ],
    },
    options: {
      barRadius: 0,
      barWidth: 0.8,
      fullHighlight: false,
      groupWidth: 0.7,
      legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: false },
      orientation: isHorizontal ? 'horizontal' : 'vertical',
      showValue: 'auto',
      stacking: 'none',
      tooltip: { mode: 'single', sort: 'none' },
      xField: by,
      xTickLabelMaxLength: 40,
      xTickLabelRotation: 0,
    },
  };
}

/** A table: the rows of the SQL. `units` has the units of columns that differ from that of the panel. */
export function tablePanel(
  source: DataSource,
  shown: Shown,
  units: Readonly<Record<string, string>> = {},
): PanelContent {
  return {
    type: 'table',
    ...base(source, shown, 'table'),
    fieldConfig: {
      defaults: {
        ...defaultsOf(shown),
        color: { mode: 'thresholds' },
        custom: { align: 'auto', filterable: true },
      },
      overrides: Object.entries(units).map(([name, unit]) => ({
        matcher: { id: 'byName', options: name },
        properties: [{ id: 'unit', value: unit }],
      })),
    },
    options: { cellHeight: 'sm', showHeader: true },
  };
}

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
function grafanaUnit({ unit }: Pick<Metric, 'unit'>): 'percentunit' | 'short' {
  return unit === 'ratio' ? 'percentunit' : 'short';
}

/** What a panel says about a metric: its meaning, its unit, and whether its values may be summed. */
function metricNote(metric: Metric): string {
  return `${metric.doc} In ${shownUnit(metric)}. ${combiningOf(metric)}`;
}
