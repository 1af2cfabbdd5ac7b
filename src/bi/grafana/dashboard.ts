import type { DashboardPlan } from './dashboards.ts';
import { chosenSource, DATA_SOURCE, type DataSource, ORGANIZATION } from './data-source.ts';
import { placed } from './layout.ts';
import type { Panel } from './panel.ts';

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

/** The uid of a dashboard: the same in every version, so that links to it stay. */
export function dashboardUid({ key }: DataSource, { name }: Pick<DashboardPlan, 'name'>): string {
  return `daywalk-${key}-${name}`;
}

/** The dashboard of a plan for a data source. */
export function dashboardFor(source: DataSource, plan: DashboardPlan): Dashboard {
  return {
    uid: dashboardUid(source, plan),
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

function dataSourceVariable({ type, title, uid }: DataSource) {
  return {
    name: DATA_SOURCE,
    label: 'Data source',
    type: 'datasource',
    query: type,
    current: { selected: true, text: title, value: uid },
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    refresh: 1,
    regex: '',
    skipUrlSync: false,
  };
}

/** The organizations of the warehouse, by their names in the organizations file. */
export const ORGANIZATIONS = `SELECT e.org_id AS __value, COALESCE(MIN(n.name), e.org_id) AS __text
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
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    refresh: 1,
    regex: '',
    skipUrlSync: false,
    sort: 0,
  };
}
