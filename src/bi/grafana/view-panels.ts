import { queryText, sql } from '../../../schema/query.ts';
import { views } from '../../../schema/views.ts';
import type { Stream } from '../../core/stream.ts';
import { withSql } from '../../metrics/index.ts';
import { PERIOD_EXPRESSIONS, periodQuery } from '../metric-template.ts';
import type { Check } from './checks.ts';
import { NEWEST_FORECAST } from './checks.ts';
import { type DataSource, TIME } from './data-source.ts';
import { barPanel, linePanel, type PanelMaker, statPanel, tablePanel } from './panel.ts';

const { orgId, from, until } = PERIOD_EXPRESSIONS;

const HOUR_MS = 3_600_000;

/** A SELECT that may refer to the chosen organization and days. */
function inPeriod({ dialect, chosen }: DataSource, select: string, stream: Stream = 'users'): string {
  return queryText(withSql([periodQuery(dialect, stream, chosen)], sql.raw(select)));
}

/** The value of a check for the chosen organization. Above its maximum it is red. */
export function checkPanel({ title, description, unit = 'short', max = 0, select }: Check): PanelMaker {
  return (source) =>
    statPanel(source, {
      title,
      description: `${description} The chosen days do not change it.`,
      sql: inPeriod(
        source,
        `SELECT ${source.numberOf('c.value')} AS value\nFROM (\n${select(source)}\n) AS c\nWHERE c.org_id = ${orgId}`,
      ),
      unit,
      thresholds: [
        { color: 'green', value: null },
        // A threshold begins with its value, and the checks count.
        { color: 'red', value: max === 0 ? 1 : max },
      ],
    });
}

/** How many units of the chosen days are in each state. */
export const unitStates: PanelMaker = (source) =>
  linePanel(
    source,
    {
      title: 'Units by state',
      description: `${views.coverage.doc} The number of streams of a day in each state; pending and failed days are not complete.`,
      sql: inPeriod(
        source,
        `SELECT ${source.instantOf('c.date')} AS "${TIME}", c.state AS state, ${source.numberOf('COUNT(*)')} AS value
FROM coverage c
WHERE c.org_id = ${orgId} AND c.is_expected AND ${source.textOfDay('c.date')} BETWEEN ${from} AND ${until}
GROUP BY c.date, c.state
ORDER BY 1, 2`,
      ),
      unit: 'short',
    },
    { axisLabel: 'streams', name: { part: 'state' }, gapMs: 36 * HOUR_MS, isStacked: true },
  );

/** The days of the chosen period that no run has stored, or that are in doubt. */
export const openDays: PanelMaker = (source) =>
  tablePanel(source, {
    title: 'Days to look at',
    description:
      'Days of the chosen period that are pending, failed, doubted or in quarantine, the newest first.',
    sql: inPeriod(
      source,
      `SELECT ${source.textOfDay('c.date')} AS date, c.stream AS stream, c.state AS state, ${source.numberOf('c.rows')} AS stored_rows,
  ${source.textOfInstant('c.last_pulled_at')} AS last_pulled
FROM coverage c
WHERE c.org_id = ${orgId} AND c.is_expected AND ${source.textOfDay('c.date')} BETWEEN ${from} AND ${until}
  AND c.state IN ('pending', 'failed', 'doubted', 'quarantined')
ORDER BY 1 DESC, 2
LIMIT 100`,
    ),
    unit: 'short',
  });

/** The last runs, also those that ended before they knew their organization. */
export const lastRuns: PanelMaker = (source) =>
  tablePanel(source, {
    title: 'Last runs',
    description:
      'The newest 20 runs. Exit code 0 is success; a run without one is in progress or was killed.',
    sql: inPeriod(
      source,
      `SELECT ${source.textOfInstant('r.started_at')} AS started, r.command AS command, ${source.numberOf('r.exit_code')} AS exit_code,
  ${source.numberOf('r.units_done')} AS units_done, ${source.numberOf('r.units_failed')} AS units_failed,
  ${source.numberOf('r.rows_written')} AS rows_written, ${source.numberOf('r.requests')} AS requests
FROM export_runs r
WHERE r.org_id = ${orgId} OR r.org_id IS NULL
ORDER BY r.started_at DESC, r.run_id
LIMIT 20`,
    ),
    unit: 'short',
  });

/** The numbers that the service changed. */
export const restatedNumbers: PanelMaker = (source) =>
  tablePanel(source, {
    title: 'Restated numbers',
    description: `${views.restatedDays.doc} The newest 50 of the chosen days. Add changes up within one column only.`,
    sql: inPeriod(
      source,
      `SELECT ${source.textOfDay('r.date')} AS date, r.stream AS stream, r.table_name AS table_name, r.column_name AS column_name,
  ${source.numberOf('r.value_before')} AS value_before, ${source.numberOf('r.value_after')} AS value_after,
  ${source.numberOf('r.change')} AS change, ${source.textOfInstant('r.detected_at')} AS detected
FROM restated_days r
WHERE r.org_id = ${orgId} AND ${source.textOfDay('r.date')} BETWEEN ${from} AND ${until}
ORDER BY r.detected_at DESC, r.date, r.stream, r.table_name, r.column_name
LIMIT 50`,
    ),
    unit: 'short',
  });

/** The forecast of the newest month against the budgets. */
export const forecast: PanelMaker = (source) =>
  tablePanel(source, {
    title: 'Forecast and budget of the newest month',
    description: `${views.monthForecast.doc} The chosen days do not change it. Do not sum over currencies.`,
    sql: inPeriod(
      source,
      `SELECT f.month AS month, f.team AS team, f.currency AS currency, ${source.numberOf('f.cost_so_far')} AS cost_so_far,
  ${source.numberOf('f.cost_forecast')} AS cost_forecast, ${source.numberOf('f.budget')} AS budget,
  f.budget_currency AS budget_currency
FROM (${NEWEST_FORECAST}) AS f
WHERE f.org_id = ${orgId}
ORDER BY f.team, f.currency`,
    ),
    unit: 'short',
  });

/** The latest report of each repository, the least ready first. */
export const latestReports: PanelMaker = (source) =>
  tablePanel(
    source,
    {
      title: 'Latest report of each repository',
      description: `${views.readinessLatest.doc} The chosen days do not change it. Do not sum or average the scores.`,
      sql: inPeriod(
        source,
        `SELECT r.repo_url AS repository, ${source.numberOf('r.score')} AS score, ${source.numberOf('r.criteria_passed')} AS criteria_passed,
  ${source.numberOf('r.criteria_evaluated')} AS criteria_evaluated, ${source.textOfInstant('r.created_at')} AS created
FROM readiness_latest r
WHERE r.org_id = ${orgId}
ORDER BY r.score NULLS LAST, r.repo_url
LIMIT 200`,
        'readiness',
      ),
      unit: 'short',
    },
    { score: 'percentunit' },
  );

/** The criteria that most repositories fail. */
export const failingCriteria: PanelMaker = (source) =>
  barPanel(
    source,
    {
      title: 'Criteria that most repositories fail',
      description: `${views.failingCriteria.doc} The number of repositories, at most 20 criteria. Do not sum: a repository can fail several criteria.`,
      sql: inPeriod(
        source,
        `SELECT c.criterion_id AS criterion, ${source.numberOf('COUNT(*)')} AS value
FROM failing_criteria c
WHERE c.org_id = ${orgId}
GROUP BY c.criterion_id
ORDER BY 2 DESC, 1
LIMIT 20`,
        'readiness',
      ),
      unit: 'short',
    },
    { axisLabel: 'repositories', by: 'criterion', name: 'Repositories', isHorizontal: true },
  );
