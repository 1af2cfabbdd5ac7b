import type { Yaml } from '../yaml.ts';
import { allChecks, type Check } from './checks.ts';
import type { Dashboard } from './dashboards.ts';
import { type DataSource, TIME } from './data-source.ts';

/** How long an alert is pending before it fires, and how urgent it is, by the key of its check. */
const URGENCY: Readonly<Record<string, { readonly pendingFor: string; readonly severity: string }>> = {
  stale: { pendingFor: '0s', severity: 'critical' },
  // The next pull within the night often succeeds.
  failed: { pendingFor: '6h', severity: 'warning' },
  missing: { pendingFor: '0s', severity: 'critical' },
};

const OTHERWISE = { pendingFor: '15m', severity: 'warning' };

/** Queries of the last minutes; the SQL of the checks does not use the range. */
const RANGE = { from: 600, to: 0 };

const EXPRESSIONS = '__expr__';

/** The file of the alert rules, as Grafana provisions it. It has no dollar sign, which Grafana would take for a variable. */
export function alertRules(source: DataSource, dashboards: readonly Dashboard[]) {
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
    data: [query(source, check), lastValue(), threshold(check)],
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

function lastValue() {
  return expression('B', { type: 'reduce', expression: 'A', reducer: 'last' });
}

function threshold({ max }: Check) {
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
