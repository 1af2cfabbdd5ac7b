import type { BiFile, BiTarget } from '../files/bi-target.ts';
import { yamlText } from '../files/yaml.ts';
import { alertRules } from './alert-rules.ts';
import { dashboardFor } from './dashboard.ts';
import { dashboardPlans } from './dashboards.ts';
import { type DataSource, dataSources } from './data-source.ts';
import { DASHBOARDS_FOLDER, dashboardProvider, dataSourceFile } from './provisioning.ts';

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
