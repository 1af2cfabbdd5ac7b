import { healthChecks, overBudget } from './checks.ts';
import { chosenSource, DATA_SOURCE, type DataSource, ORGANIZATION } from './data-source.ts';
import type { Panel, PanelMaker, ThresholdStep } from './panel.ts';
import { byMonth, byPart, line, total } from './panel.ts';
import {
  checkPanel,
  failingCriteria,
  forecast,
  lastRuns,
  latestReports,
  openDays,
  restatedNumbers,
  unitStates,
} from './view-panels.ts';

/** What a dashboard shows. */
interface DashboardPlan {
  /** The name of its file, and a part of its uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly bands: readonly Band[];
}

/** Colours for a readiness score. */
const READINESS: readonly ThresholdStep[] = [
  { color: 'red', value: null },
  { color: 'yellow', value: 0.5 },
  { color: 'green', value: 0.8 },
];

const STAT = 4;
const CHART = 8;

const overview: DashboardPlan = {
  name: 'overview',
  title: 'Daywalk: overview',
  description: 'What the organization uses. A gap in a line is a day that is not stored.',
  bands: [
    band(
      STAT,
      ...['billable_tokens', 'active_users', 'sessions', 'messages', 'tool_calls', 'mcp_calls'].map((name) =>
        total(name),
      ),
    ),
    band(
      STAT,
      ...[
        'skill_calls',
        'slash_commands',
        'files_created',
        'files_edited',
        'git_commits',
        'git_prs_created',
      ].map((name) => total(name)),
    ),
    band(CHART, line('billable_tokens', 'date'), line('active_users', 'date')),
    band(CHART, line('sessions', 'week'), line('git_commits', 'week')),
    band(CHART, byPart('tool_invocations', 'tool'), byPart('mcp_invocations', 'server')),
  ],
};

const adoption: DashboardPlan = {
  name: 'adoption',
  title: 'Daywalk: adoption',
  description:
    'Who uses it. People count once in each week, month, team or language, so do not add these numbers up.',
  bands: [
    band(
      STAT,
      total('licensed_users'),
      total('inactive_users'),
      total('new_users'),
      total('sessions_per_active_user'),
    ),
    band(CHART, line('active_users', 'week'), byMonth('active_users')),
    band(CHART, line('new_users', 'week'), byMonth('inactive_users')),
    band(CHART, line('sessions_per_active_user', 'week'), line('published_mau', 'date')),
    band(
      CHART,
      byPart('active_users', 'team'),
      byPart('language_users', 'language'),
      line('published_client_dau', 'date', 'client'),
    ),
  ],
};

const cost: DashboardPlan = {
  name: 'cost',
  title: 'Daywalk: cost',
  description:
    'Credits times the price of their day. A cost is empty if a day with credits has no price. The first and the last month have only the chosen days.',
  bands: [
    band(
      STAT,
      total('cost'),
      total('cost_per_active_user'),
      total('published_billable_tokens'),
      total('cache_share'),
      total('thinking_share'),
      checkPanel(overBudget),
    ),
    band(CHART, byMonth('cost'), byPart('cost', 'team')),
    band(CHART, forecast),
    band(CHART, byMonth('cost_per_active_user'), byPart('published_billable_tokens', 'model')),
    band(CHART, line('published_billable_tokens', 'date', 'model'), byMonth('tokens_per_commit')),
    band(CHART, line('cache_share', 'week'), line('thinking_share', 'week')),
  ],
};

const readiness: DashboardPlan = {
  name: 'readiness',
  title: 'Daywalk: readiness',
  description: 'How ready the repositories are for agents: the latest report of each counts.',
  bands: [
    band(CHART, total('readiness_score', READINESS), byMonth('readiness_score', READINESS)),
    band(10, byPart('readiness_score', 'repository', READINESS), failingCriteria),
    band(10, latestReports),
  ],
};

const health: DashboardPlan = {
  name: 'health',
  title: 'Daywalk: data health',
  description: 'Whether the numbers are complete. A green number needs nobody.',
  bands: [
    band(STAT, ...healthChecks.map(checkPanel)),
    band(CHART, unitStates),
    band(CHART, openDays, lastRuns),
    band(CHART, restatedNumbers),
  ],
};

/** The dashboards, in the order of their files. */
export const dashboardPlans: readonly DashboardPlan[] = [overview, adoption, cost, readiness, health];

/** The version of the format of dashboards; Grafana 12 and newer read it, and migrate it themselves. */
const SCHEMA_VERSION = 41;

/** A tag of every dashboard, by which the links at the top find the others. */
const TAG = 'daywalk';

/** A dashboard as a file of Grafana. */
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Readonly<Record<string, unknown>>[] };
  readonly [setting: string]: unknown;
}

/** The dashboard of a plan for a data source. */
export function dashboardFor(source: DataSource, plan: DashboardPlan): Dashboard {
  return {
    // The same in every version, so that links to it stay.
    uid: `daywalk-${source.key}-${plan.name}`,
    title: plan.title,
    description: plan.description,
    tags: [TAG, source.key],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    graphTooltip: 1,
    // Days are UTC days. In another time zone, their points would move.
    timezone: 'utc',
    weekStart: 'monday',
    time: { from: 'now-6M/M', to: 'now' },
    timepicker: {},
    refresh: '',
    links: [
      {
        asDropdown: false,
        icon: 'external link',
        includeVars: true,
        keepTime: true,
        tags: [TAG, source.key],
        targetBlank: false,
        title: 'Daywalk',
        tooltip: '',
        type: 'dashboards',
        url: '',
      },
    ],
    annotations: { list: [] },
    templating: { list: [dataSourceVariable(source), organizationVariable(source)] },
    panels: placed(source, plan.bands),
  };
}

/** What both variables have: one value, chosen at the top. */
const CHOSEN = {
  hide: 0,
  includeAll: false,
  multi: false,
  options: [],
  refresh: 1,
  regex: '',
  skipUrlSync: false,
};

function dataSourceVariable({ type, title, uid }: DataSource) {
  return {
    name: DATA_SOURCE,
    label: 'Data source',
    type: 'datasource',
    query: type,
    current: { selected: true, text: title, value: uid },
    ...CHOSEN,
  };
}

/** The organizations of the warehouse, by their names in the organizations file. */
const ORGANIZATIONS = `SELECT e.org_id AS __value, COALESCE(MIN(n.name), e.org_id) AS __text
FROM (SELECT DISTINCT org_id FROM export_units) e
LEFT JOIN organizations n ON n.org_id = e.org_id
GROUP BY e.org_id
ORDER BY 2, 1`;

function organizationVariable({ type }: DataSource) {
  return {
    name: ORGANIZATION,
    label: 'Organization',
    type: 'query',
    datasource: chosenSource({ type }),
    query: ORGANIZATIONS,
    ...CHOSEN,
    sort: 0,
  };
}

/** Panels side by side, all of the same width and height. */
interface Band {
  /** In units of 30 pixels. */
  readonly height: number;
  readonly panels: readonly PanelMaker[];
}

/** The columns of Grafana's grid. */
const COLUMNS = 24;

/** Panels side by side. Their number divides {@link COLUMNS}. */
function band(height: number, ...panels: readonly PanelMaker[]): Band {
  return { height, panels };
}

/** Places the panels of bands below each other, and numbers them. */
function placed(source: DataSource, bands: readonly Band[]): readonly Panel[] {
  const panels: Panel[] = [];
  let y = 0;
  for (const { height, panels: makers } of bands) {
    const width = COLUMNS / makers.length;
    for (const [index, make] of makers.entries()) {
      panels.push({
        id: panels.length + 1,
        gridPos: { x: index * width, y, w: width, h: height },
        datasource: chosenSource(source),
        ...make(source),
      });
    }
    y += height;
  }
  return panels;
}
