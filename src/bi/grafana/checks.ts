import { queryText } from '../../../schema/query.ts';
import { FIRST_DAY } from '../../core/day.ts';
import { storedUnit } from '../../metrics/index.ts';
import type { DataSource } from './data-source.ts';

/**
 * A SELECT of what each team will have used at the end of the newest month of its organization, with its budget: `org_id`,
 * `month`, `team`, `currency`, `cost_so_far`, `cost_forecast`, `budget`, and `currencies`, which is 1 unless the month has
 * several. It reads the view once, because the view takes a second over a large warehouse.
 */
export const NEWEST_FORECAST = `SELECT f.org_id, f.month, f.team, f.currency, f.cost_so_far, f.cost_forecast, b.amount AS budget,
  CASE WHEN f.first_currency = f.last_currency THEN 1 ELSE 2 END AS currencies
FROM (
  SELECT org_id, month, team, currency, cost_so_far, cost_forecast, MAX(month) OVER (PARTITION BY org_id) AS newest,
    MIN(currency) OVER (PARTITION BY org_id, month) AS first_currency,
    MAX(currency) OVER (PARTITION BY org_id, month) AS last_currency
  FROM month_forecast
) AS f
LEFT JOIN budgets b ON b.org_id = f.org_id AND b.month = f.month AND b.team = f.team AND b.currency = f.currency
WHERE f.month = f.newest`;

/** A number about the health of each organization. A panel shows it, and an alert watches it: both with the same SQL. */
export interface Check {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  /** The unit of Grafana. */
  readonly unit: string;
  /** The largest value that needs nobody. */
  readonly max: number;
  /** A SELECT of `org_id` and `value`, with a row for every organization. */
  select(source: DataSource): string;
}

/** A day that is missing this many days after its end needs a person, as for `daywalk status`. */
const MISSING_AFTER_DAYS = 3;

/** Hours after the end of the newest day: a nightly run brings the next one after at most 30. */
const STALE_HOURS = 36;

/** The relative difference between a cost and a budget that may be an error of rounding. */
const ROUNDING = 1e-9;

const stored = queryText(storedUnit('e'));

/** For each organization, the number of rows of `from` that belong to it. */
const countOf = (from: string) => `SELECT o.org_id, COUNT(x.org_id) AS value
FROM (SELECT DISTINCT org_id FROM export_units) o
LEFT JOIN (${from}) x ON x.org_id = o.org_id
GROUP BY o.org_id`;

const units = (state: string) => countOf(`SELECT org_id FROM export_units WHERE state = '${state}'`);

const stale: Check = {
  key: 'stale',
  title: 'Hours since the newest day',
  description: `Hours since the end of the newest day that the service has answered for. A nightly run keeps it below 30; above ${STALE_HOURS}, look at the last run.`,
  unit: 'h',
  max: STALE_HOURS,
  select: ({ hoursSinceDay }) => {
    const newest = `COALESCE(MAX(CASE WHEN e.state = 'awaiting' OR ${stored} THEN e.date END), '${FIRST_DAY}')`;
    return `SELECT e.org_id, ${hoursSinceDay(newest)} AS value
FROM export_units e
WHERE e.stream <> 'readiness'
GROUP BY e.org_id`;
  },
};

const failed: Check = {
  key: 'failed',
  title: 'Failed units',
  description: 'Units whose last pull failed. The next run pulls them again; daywalk status names them.',
  unit: 'short',
  max: 0,
  select: () => units('failed'),
};

const doubted: Check = {
  key: 'doubted',
  title: 'Doubted units',
  description:
    'Units that the service no longer sends in full. Nothing was deleted. Compare daywalk status with the service; daywalk run can accept the loss.',
  unit: 'short',
  max: 0,
  select: () => units('doubted'),
};

const missing: Check = {
  key: 'missing',
  title: 'Missing days',
  description: `Days and streams that are not stored ${MISSING_AFTER_DAYS} days after their end. daywalk status says why; daywalk run pulls them again.`,
  unit: 'short',
  max: 0,
  select: ({ daysAgo, textOfDay }) =>
    countOf(`SELECT c.org_id FROM coverage c
  WHERE c.state IN ('pending', 'failed') AND c.rows = 0 AND ${textOfDay('c.date')} < ${daysAgo(MISSING_AFTER_DAYS)}`),
};

const quarantined: Check = {
  key: 'quarantined',
  title: 'Records in quarantine',
  description:
    'Records that could not be stored and that nobody has accepted. daywalk quarantine list shows them.',
  unit: 'short',
  max: 0,
  select: () => countOf('SELECT org_id FROM quarantine WHERE accepted_at IS NULL'),
};

const incidents: Check = {
  key: 'incidents',
  title: 'Open incidents',
  description:
    'Incidents of the organization that notifications have reported and that are not over, with the failed runs of the warehouse. 0 if notifications are off.',
  unit: 'short',
  max: 0,
  select: ({ elementsOf }) => `SELECT o.org_id, COUNT(x.scope) AS value
FROM (SELECT DISTINCT org_id FROM export_units) o
LEFT JOIN (SELECT s.org_id AS scope FROM export_state s, ${elementsOf("s.value -> 'incidents'")}
  WHERE s.name = 'incidents' AND (i.value ->> 'endedAt') IS NULL) x ON x.scope IN (o.org_id, '')
GROUP BY o.org_id`,
};

/** The budgets that are exceeded, or will be at the end of the month, as `daywalk budget check` judges them. */
export const overBudget: Check = {
  key: 'budget',
  title: 'Teams over budget',
  description:
    'Teams whose cost in the newest month, or its forecast, is above their budget. daywalk budget check names them, and says if a price is missing.',
  unit: 'short',
  max: 0,
  select: () =>
    countOf(`SELECT f.org_id FROM (${NEWEST_FORECAST}) AS f
  WHERE f.currencies = 1 AND (f.cost_so_far > f.budget * (1 + ${ROUNDING}) OR f.cost_forecast > f.budget * (1 + ${ROUNDING}))`),
};

/** The checks of the dashboard about the health of the data. */
export const healthChecks: readonly Check[] = [stale, failed, doubted, missing, quarantined, incidents];

/** Every check, in the order of the alerts. */
export const allChecks: readonly Check[] = [...healthChecks, overBudget];
