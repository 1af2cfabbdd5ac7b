import { chosenSource, type DataSource, type QueryFormat } from './data-source.ts';

/** A colour from a value on; the first step has no value. */
export interface ThresholdStep {
  readonly color: 'green' | 'yellow' | 'red' | 'text';
  readonly value: number | null;
}

/** What a panel shows, before it has a place on its dashboard. */
export interface PanelContent {
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
export interface Shown {
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
export interface LineStyle {
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
export interface BarStyle {
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
