import type { Columns } from '../../schema/define.ts';
import { allMetrics, type Dimension, type Metric } from '../../schema/metrics/dictionary.ts';
import { QUESTION_SCOPE, questions } from '../../schema/reference/questions.ts';
import { allTables } from '../../schema/tables.ts';
import { allViews } from '../../schema/views.ts';
import { findMetric } from '../metrics/index.ts';
import { columnNote, columnUnits, combiningOf, cutsOf, metricSql, shownUnit } from './dictionary.ts';
import type { PeriodChoice } from './metric-template.ts';
import type { BiTarget } from './write-folder.ts';

/** Metadata for Datasette 0.65 with queries, and dashboards for its plugin datasette-dashboards. */
export const datasetteTarget: BiTarget = {
  files: () => [{ path: 'metadata.json', text: `${JSON.stringify(metadata(), null, 1)}\n` }],
  nextSteps: (directory) => [
    `daywalk publish --sqlite ${directory}/${DATABASE}.db`,
    "pip install 'datasette==0.65.5' 'datasette-dashboards==0.8.0'",
    `datasette serve ${directory}/${DATABASE}.db --metadata ${directory}/metadata.json --setting sql_time_limit_ms 20000 --setting max_returned_rows 20000`,
  ],
};

function metadata() {
  return {
    title: 'Daywalk',
    description:
      'Daily analytics and readiness reports of an AI agent platform, whole days only. Absent numbers are NULL, never 0.',
    databases: { [DATABASE]: { tables: tableNotes(), queries: cannedQueries() } },
    plugins: { 'datasette-dashboards': dashboards },
  };
}

/** The parameters of every query about a metric. Datasette passes an empty text for one that is not given. */
const PARAMETERS = ['organization', 'first_day', 'last_day'] as const;

const given = (name: (typeof PARAMETERS)[number]) => `NULLIF(:${name}, '')`;

/** The organization and the days that a reader has chosen; NULL for the default. */
const CHOSEN: PeriodChoice = {
  orgId: given('organization'),
  from: given('first_day'),
  until: given('last_day'),
};

/** The name of the database in Datasette: that of the file without its ending. */
const DATABASE = 'daywalk';

/**
 * A chart of datasette-dashboards. Only `vega-lite` is used: its texts are drawn, while tables of the plugin insert names
 * into the page as HTML.
 */
interface Chart {
  readonly title: string;
  readonly db: string;
  readonly library: 'vega-lite';
  readonly query: string;
  readonly display: object;
}

/** The version that datasette-dashboards 0.8 brings. */
const VEGA_LITE = 'https://vega.github.io/schema/vega-lite/v6.json';

/** A chart of a metric in time. A bucket without a stored day is a gap in the line. */
function lineChart(metric: string, grain: 'date' | 'week' | 'month', part?: Dimension): Chart {
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
function barChart(metric: string, part: Dimension): Chart {
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

/** A page of charts. */
interface Dashboard {
  readonly title: string;
  readonly description: string;
  readonly filters: Readonly<Record<string, object>>;
  readonly charts: Readonly<Record<string, Chart>>;
}

const [ORGANIZATION, FIRST_DAY, LAST_DAY] = PARAMETERS;

const FILTERS = {
  [ORGANIZATION]: { name: 'Organization (ID, empty for the only one)', type: 'text', default: '' },
  [FIRST_DAY]: { name: 'First day (empty for all)', type: 'date', default: '' },
  [LAST_DAY]: { name: 'Last day (empty for all)', type: 'date', default: '' },
};

function dashboard(title: string, description: string, charts: Readonly<Record<string, Chart>>): Dashboard {
  return { title, description, filters: FILTERS, charts };
}

/** The dashboards by their names in the address. */
const dashboards: Readonly<Record<string, Dashboard>> = {
  overview: dashboard(
    'Overview',
    'What the organization uses. A gap in a line is a day that is not stored.',
    {
      credits: lineChart('billable_tokens', 'date'),
      active_users: lineChart('active_users', 'date'),
      sessions: lineChart('sessions', 'week'),
      commits: lineChart('git_commits', 'week'),
    },
  ),
  adoption: dashboard(
    'Adoption',
    'Who uses it. People count once in each week, month, team or language, so do not add these up.',
    {
      active_by_week: lineChart('active_users', 'week'),
      active_by_month: lineChart('active_users', 'month'),
      new_users: lineChart('new_users', 'week'),
      inactive_users: lineChart('inactive_users', 'month'),
      sessions_per_user: lineChart('sessions_per_active_user', 'week'),
      active_by_team: barChart('active_users', 'team'),
      languages: barChart('language_users', 'language'),
      clients: lineChart('published_client_dau', 'date', 'client'),
    },
  ),
  cost: dashboard(
    'Cost',
    'Credits times the price of their day. A month without a price is a gap; the first and the last have only their stored days.',
    {
      cost_by_month: lineChart('cost', 'month'),
      cost_by_team: barChart('cost', 'team'),
      cost_per_user: lineChart('cost_per_active_user', 'month'),
      credits_by_model: barChart('published_billable_tokens', 'model'),
      credits_per_commit: lineChart('tokens_per_commit', 'month'),
      cache_share: lineChart('cache_share', 'week'),
      thinking_share: lineChart('thinking_share', 'week'),
    },
  ),
  tools: dashboard('Tools and readiness', 'Which tools are used, and how ready the repositories are.', {
    tools: barChart('tool_invocations', 'tool'),
    servers: barChart('mcp_invocations', 'server'),
    skills: barChart('skill_invocations', 'skill'),
    commands: barChart('slash_command_invocations', 'slash_command'),
    readiness: lineChart('readiness_score', 'month'),
    repositories: barChart('readiness_score', 'repository'),
  }),
};

/** A query with a name and a page in Datasette. */
interface CannedQuery {
  readonly title: string;
  readonly description: string;
  readonly sql: string;
  /** In the order of their fields on the page. */
  readonly params?: readonly string[];
}

/** Dimensions that have no query of their own: a day or week can be chosen, and users are rows of tables. */
const WITHOUT_QUERY: readonly Dimension[] = ['date', 'week', 'user', 'delegation_level'];

/** The ways in which Datasette has a query for a metric: by month, or by date if it is published for days, and by its groups. */
export function queriedCuts(metric: Metric): readonly (readonly Dimension[])[] {
  if (metric.measure.kind === 'snapshot') return cutsOf(metric);
  return cutsOf(metric).filter((by) => by.length > 0 && !by.some((part) => WITHOUT_QUERY.includes(part)));
}

/** The name of the query for a metric in its cut: `cost_by_month`. */
export function queryName(metric: string, by: readonly Dimension[]): string {
  return `${metric}_by_${by.join('_')}`;
}

/** A query for every metric in each of its cuts, and one for every question. */
export function cannedQueries(): Readonly<Record<string, CannedQuery>> {
  const metrics = allMetrics.flatMap((metric) =>
    queriedCuts(metric).map((by) => [queryName(metric.name, by), metricQuery(metric, by)] as const),
  );
  return Object.fromEntries([...metrics, ...questionQueries()]);
}

function metricQuery(metric: Metric, by: readonly Dimension[]): CannedQuery {
  const { name, title, doc } = metric;
  return {
    title: `${title} by ${by.join(' and ')}, in ${shownUnit(metric)}`,
    description: `${doc} ${combiningOf(metric)} Leave the days empty for all days, and the organization if there is only one.`,
    sql: metricSql('sqlite', { metric: name, by }, CHOSEN),
    params: PARAMETERS,
  };
}

function questionQueries(): (readonly [string, CannedQuery])[] {
  return questions.map(({ id, title, note = '', sql }) => {
    const name = `question_${id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
    return [name, { title, description: `${note} ${QUESTION_SCOPE}`.trim(), sql }] as const;
  });
}

/** What Datasette shows above a table or a view. */
interface TableNotes {
  readonly description: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** The notes on every table and view, by its name. */
function tableNotes(): Readonly<Record<string, TableNotes>> {
  const units = columnUnits();
  return Object.fromEntries(
    [...allTables, ...allViews].map(({ name, doc, columns }) => [
      name,
      { description: doc, columns: columnNotes(name, columns, units) },
    ]),
  );
}

function columnNotes(
  table: string,
  columns: Columns,
  units: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [
      name,
      columnNote(column, units.get(`${table}.${name}`)),
    ]),
  );
}
