import type { BiFile, BiTarget } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';
import { allChecks, type Check } from './checks.ts';
import { type Dashboard, dashboardFor, dashboardPlans } from './dashboards.ts';
import { type DataSource, dataSources, TIME } from './data-source.ts';

/** Dashboards, data sources and alert rules for Grafana 12 and 13. */
export const grafanaTarget: BiTarget = {
  files: () => dataSources.flatMap(filesFor),
  nextSteps: (directory) => [
    `cp -r ${directory}/postgres/provisioning/. /etc/grafana/provisioning/ (or ${directory}/sqlite)`,
    `mkdir -p ${DASHBOARDS_FOLDER}/postgres && cp -r ${directory}/postgres/dashboards/. ${DASHBOARDS_FOLDER}/postgres/ (or sqlite)`,
    'Set PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD and PGSSLMODE for Grafana (SQLite: install frser-sqlite-datasource and set DAYWALK_FILE), and restart it.',
  ],
};

function filesFor(source: DataSource): readonly BiFile[] {
  const folder = `${source.key}/provisioning`;
  const name = `daywalk-${source.key}.yaml`;
  const dashboards = dashboardPlans.map((plan) => ({
    path: `${source.key}/dashboards/${plan.name}.json`,
    dashboard: dashboardFor(source, plan),
  }));
  const rules = alertRules(
    source,
    dashboards.map(({ dashboard }) => dashboard),
  );
  return [
    ...dashboards.map(({ path, dashboard }) => ({ path, text: `${JSON.stringify(dashboard, null, 1)}\n` })),
    { path: `${folder}/datasources/${name}`, text: yamlText(dataSourceFile(source)) },
    { path: `${folder}/dashboards/${name}`, text: yamlText(dashboardProvider(source)) },
    { path: `${folder}/alerting/${name}`, text: yamlText(rules) },
  ];
}

/** Where Grafana looks for the dashboards. */
const DASHBOARDS_FOLDER = '/var/lib/grafana/dashboards/daywalk';

/** The file of the data source. Grafana takes the names with a dollar sign from its environment. */
function dataSourceFile({ key, title, type, uid }: DataSource) {
  return {
    apiVersion: 1,
    datasources: [{ name: title, type, uid, access: 'proxy', editable: false, ...CONNECTIONS[key] }],
  };
}

const CONNECTIONS: Readonly<Record<DataSource['key'], Readonly<Record<string, Yaml>>>> = {
  postgres: {
    url: '$PGHOST:$PGPORT',
    user: '$PGUSER',
    jsonData: { database: '$PGDATABASE', sslmode: '$PGSSLMODE', postgresVersion: 1500 },
    secureJsonData: { password: '$PGPASSWORD' },
  },
  sqlite: { jsonData: { path: '$DAYWALK_FILE', pathOptions: 'mode=ro' } },
};

/** The file of the provider of the dashboards. */
function dashboardProvider({ key, title }: DataSource) {
  return {
    apiVersion: 1,
    providers: [
      {
        orgId: 1,
        name: title,
        // A folder of its own: titles may be used once in a folder.
        folder: title,
        type: 'file',
        disableDeletion: false,
        allowUiUpdates: false,
        updateIntervalSeconds: 60,
        options: { path: `${DASHBOARDS_FOLDER}/${key}` },
      },
    ],
  };
}

/** How long an alert is pending before it fires, and how urgent it is, by the key of its check. */
const URGENCY: Readonly<Record<string, { readonly pendingFor: string; readonly severity: string }>> = {
  stale: { pendingFor: '0s', severity: 'critical' },
  // The next pull within the night often succeeds.
  failed: { pendingFor: '6h', severity: 'warning' },
  missing: { pendingFor: '0s', severity: 'critical' },
};

const OTHERWISE = { pendingFor: '15m', severity: 'warning' };

const LAST_VALUE = { type: 'reduce', expression: 'A', reducer: 'last' };

/** Queries of the last minutes; the SQL of the checks does not use the range. */
const RANGE = { from: 600, to: 0 };

const EXPRESSIONS = '__expr__';

/** The file of the alert rules, as Grafana provisions it. It has no dollar sign, which Grafana would take for a variable. */
function alertRules(source: DataSource, dashboards: readonly Dashboard[]) {
  return {
    apiVersion: 1,
    groups: [
      {
        orgId: 1,
        name: source.title,
        folder: source.title,
        interval: '15m',
        rules: allChecks.map((check) => ({ ...ruleFor(source, check), ...panelOf(dashboards, check) })),
      },
    ],
  };
}

function ruleFor(source: DataSource, check: Check) {
  const { pendingFor, severity } = URGENCY[check.key] ?? OTHERWISE;
  return {
    uid: `daywalk-${source.key}-${check.key}`,
    title: `Daywalk: ${check.title} (${source.key})`,
    condition: 'C',
    data: [query(source, check), expression('B', LAST_VALUE), threshold(check)],
    // Without a row there is no organization: nothing was ever exported.
    noDataState: check.key === 'stale' ? 'Alerting' : 'OK',
    execErrState: 'Error',
    for: pendingFor,
    annotations: {
      summary: `{{ .Labels.organization }}: ${check.title.toLowerCase()}: {{ .Values.B }}`,
      description: check.description,
    },
    labels: { severity, service: 'daywalk' },
    isPaused: false,
  };
}

function query(source: DataSource, check: Check) {
  const { type, uid } = source;
  const model = source.target(alertSql(source, check), 'time series');
  return {
    refId: 'A',
    // The plugin for SQLite reads it here.
    ...(typeof model['queryType'] === 'string' && { queryType: model['queryType'] }),
    relativeTimeRange: RANGE,
    datasourceUid: uid,
    model: { ...model, datasource: { type, uid }, intervalMs: 1000, maxDataPoints: 43_200 },
  };
}

/** The check of every organization at this instant. Alerts take no variables, and only rows with a time. */
function alertSql(source: DataSource, { select }: Check): string {
  return `SELECT ${source.now} AS "${TIME}", c.org_id AS organization, ${source.numberOf('c.value')} AS value
FROM (
${select(source)}
) AS c
ORDER BY 2`;
}

function threshold({ max = 0 }: Check) {
  return expression('C', {
    type: 'threshold',
    expression: 'B',
    conditions: [{ evaluator: { type: 'gt', params: [max] } }],
  });
}

function expression(refId: string, model: Readonly<Record<string, Yaml>>) {
  return {
    refId,
    relativeTimeRange: RANGE,
    datasourceUid: EXPRESSIONS,
    model: { refId, datasource: { type: EXPRESSIONS, uid: EXPRESSIONS }, ...model },
  };
}

/** The dashboard and panel that show a check. */
function panelOf(dashboards: readonly Dashboard[], { title }: Check) {
  for (const { uid, panels } of dashboards) {
    const panel = panels.find((one) => one.title === title);
    if (panel !== undefined) return { dashboardUid: uid, panelId: panel.id };
  }
  throw new TypeError(`no dashboard shows "${title}"`);
}
