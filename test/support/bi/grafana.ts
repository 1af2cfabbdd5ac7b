import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grafanaTarget } from '../../../src/bi/grafana/target.ts';
import type { SourceKey } from './grafana-macros.ts';
import { readYaml } from './read-yaml.ts';

/** The parts of a written dashboard that tests look at. */
export interface WrittenDashboard {
  readonly uid: string;
  readonly title: string;
  readonly timezone: string;
  readonly templating: { readonly list: readonly WrittenVariable[] };
  readonly panels: readonly WrittenPanel[];
}

export interface WrittenVariable {
  readonly name: string;
  readonly type: string;
  readonly query: string;
}

export interface WrittenPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource: WrittenSource;
  readonly targets: readonly (WrittenQuery & { readonly datasource: WrittenSource })[];
  readonly fieldConfig: { readonly defaults: { readonly unit?: string; readonly displayName?: string } };
  readonly options: { readonly xField?: string };
}

interface WrittenSource {
  readonly type: string;
  readonly uid: string;
}

/** A query as one of the plugins takes it. */
export interface WrittenQuery {
  readonly rawSql?: string;
  readonly queryText?: string;
  readonly rawQueryText?: string;
  readonly queryType?: string;
  readonly format?: string;
  readonly timeColumns?: readonly string[];
}

/** The parts of a written alert rule that tests look at. */
export interface WrittenRule {
  readonly uid: string;
  readonly title: string;
  readonly condition: string;
  readonly dashboardUid: string;
  readonly panelId: number;
  readonly data: readonly {
    readonly refId: string;
    readonly datasourceUid: string;
    readonly model: WrittenQuery & {
      readonly type?: string;
      readonly expression?: string;
      readonly conditions?: readonly {
        readonly evaluator: { readonly type: string; readonly params: readonly number[] };
      }[];
    };
  }[];
}

/** Makes the texts of the files, by path. */
export function makeGrafanaFiles(): ReadonlyMap<string, string> {
  return new Map(grafanaTarget.files().map(({ path, text }) => [path, text]));
}

let files: ReadonlyMap<string, string> | undefined;

/** The texts of the files, by path. They are made once. */
export function grafanaFiles(): ReadonlyMap<string, string> {
  files ??= makeGrafanaFiles();
  return files;
}

/** The dashboards for a data source, as their files have them. */
export function dashboardsOf(key: SourceKey, from = grafanaFiles()): readonly WrittenDashboard[] {
  return [...from]
    .filter(([path]) => path.startsWith(`${key}/dashboards/`))
    .map(([, text]) => JSON.parse(text) as WrittenDashboard);
}

/** The dashboards in a folder. */
export function readDashboards(folder: string): readonly WrittenDashboard[] {
  return readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as WrittenDashboard,
  );
}

/** The alert rules for a data source, as their file has them. */
export function rulesOf(key: SourceKey): readonly WrittenRule[] {
  const text = grafanaFiles().get(`${key}/provisioning/alerting/daywalk-${key}.yaml`) ?? '';
  const { groups } = readYaml(text) as {
    readonly groups: readonly { readonly rules: readonly WrittenRule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

/** The only query of a panel or an alert. */
export function sqlOf({ rawSql, queryText }: WrittenQuery): string {
  const sql = rawSql ?? queryText;
  if (sql === undefined) throw new Error('the query has no SQL');
  return sql;
}

/** The SQL of every panel, variable and alert for a data source, by where it stands. Panels and variables take variables. */
export function everySql(
  key: SourceKey,
): readonly { readonly place: string; readonly sql: string; readonly isAlert: boolean }[] {
  const panels = dashboardsOf(key).flatMap(({ uid, panels: list, templating }) => [
    ...list.flatMap(({ title, targets }) =>
      targets.map((target) => ({ place: `${uid}: ${title}`, sql: sqlOf(target), isAlert: false })),
    ),
    ...templating.list
      .filter(({ type }) => type === 'query')
      .map(({ name, query }) => ({ place: `${uid}: variable ${name}`, sql: query, isAlert: false })),
  ]);
  const alerts = rulesOf(key).flatMap(({ uid, data }) =>
    data.slice(0, 1).map(({ model }) => ({ place: `alert ${uid}`, sql: sqlOf(model), isAlert: true })),
  );
  return [...panels, ...alerts];
}
