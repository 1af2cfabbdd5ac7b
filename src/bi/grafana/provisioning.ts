import type { Yaml } from '../files/yaml.ts';
import type { DataSource } from './data-source.ts';

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
