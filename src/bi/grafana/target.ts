import type { BiFile, BiTarget } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';
import { alertRules } from './alert-rules.ts';
import { dashboardFor, dashboardPlans } from './dashboards.ts';
import { type DataSource, dataSources } from './data-source.ts';

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
export const DASHBOARDS_FOLDER = '/var/lib/grafana/dashboards/daywalk';

/** The file of the data source. Grafana takes the names with a dollar sign from its environment. */
export function dataSourceFile({ key, title, type, uid }: DataSource) {
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
export function dashboardProvider({ key, title }: DataSource) {
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
