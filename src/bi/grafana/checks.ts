import { BUDGET_ROUNDING } from '../../../schema/query.ts';
import { AGE_SECONDS_MIN, MISSING_AFTER_DAYS } from '../../expected/index.ts';
import type { DataSource } from './data-source.ts';

/**
 * A SELECT of what each team will have used at the end of the newest month of its organization, with its budget, also one in
 * another currency. `currencies` is 1 unless the month has several. It reads the view once, because the view takes a second over a large warehouse.
 */
export const NEWEST_FORECAST = `SELECT f.org_id, f.month, f.team, f.currency, f.cost_so_far, f.cost_forecast, b.amount AS budget,
  b.currency AS budget_currency, CASE WHEN f.first_currency = f.last_currency THEN 1 ELSE 2 END AS currencies
FROM (
  SELECT org_id, month, team, currency, cost_so_far, cost_forecast, MAX(month) OVER (PARTITION BY org_id) AS newest,
    MIN(currency) OVER (PARTITION BY org_id, month) AS first_currency,
    MAX(currency) OVER (PARTITION BY org_id, month) AS last_currency
  FROM month_forecast
) AS f
LEFT JOIN budgets b ON b.org_id = f.org_id AND b.month = f.month AND b.team = f.team
WHERE f.month = f.newest`;

/** A number about the health of each organization. A panel shows it, and an alert watches it: both with the same SQL. */
export interface Check {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  /** The unit of Grafana. @default short */
  readonly unit?: string;
  /** The largest value that needs nobody. @default 0 */
  readonly max?: number;
  /** A SELECT of `org_id` and `value`, with a row for every organization. */
  select(source: DataSource): string;
}

/** Hours after the end of the newest day: a nightly run brings the next one after at most 30. */
const STALE_HOURS = 36;
/** What a schedule with longer gaps adds; a shorter age than the one of a nightly job takes nothing away. */
const EXTRA_HOURS = `CASE WHEN MAX(k.max_age_seconds) > ${AGE_SECONDS_MIN} THEN (MAX(k.max_age_seconds) - ${AGE_SECONDS_MIN}) / 3600.0 ELSE 0 END`;

/** True for a unit `c` of the view `coverage` that nobody has an answer for. */
const UNANSWERED = "(c.state IN ('pending', 'failed') AND c.rows = 0)";

/** For each organization, the number of rows of `from` that belong to it. */
const countOf = (from: string) => `SELECT o.org_id, COUNT(x.org_id) AS value
FROM (SELECT DISTINCT org_id FROM export_units) o
LEFT JOIN (${from}) x ON x.org_id = o.org_id
GROUP BY o.org_id`;

/** NULL in a published copy, which does not have the rows that are counted: 0 would say that there are none. */
const unlessPublished = (select: string) => `SELECT n.org_id,
  CASE WHEN NOT EXISTS (SELECT 1 FROM identity i WHERE i.made_by = 'publish') THEN n.value END AS value
FROM (${select}) AS n`;

/** Rows `x` of units that are expected, and so asked for again. */
const expectedOf = ({ textOfDay }: DataSource, table: string, condition: string) =>
  countOf(`SELECT x.org_id FROM ${table} x
  LEFT JOIN contracts k ON k.org_id = x.org_id
  LEFT JOIN coverage c ON c.org_id = x.org_id AND c.stream = x.stream AND ${textOfDay('c.date')} = x.date
  WHERE ${condition} AND (c.is_expected OR x.stream = 'readiness' AND COALESCE(k.streams, x.stream) LIKE '%readiness%')`);

const stale: Check = {
  key: 'stale',
  title: 'Hours since the newest day',
  description: `Hours since the end of the newest expected day that the service has answered for, without what the longest gap of the schedule explains. A nightly run keeps it below 30; above ${STALE_HOURS}, look at the last run.`,
  unit: 'h',
  max: STALE_HOURS,
  select: ({ hoursSinceDay, textOfDay }) => {
    const newest = textOfDay(`COALESCE(MAX(CASE WHEN NOT ${UNANSWERED} THEN c.date END), MIN(c.date))`);
    return `SELECT o.org_id, CASE WHEN COUNT(c.date) = 0 THEN 0 ELSE ${hoursSinceDay(newest)} - ${EXTRA_HOURS} END AS value
FROM (SELECT DISTINCT org_id FROM export_units) o
LEFT JOIN contracts k ON k.org_id = o.org_id
LEFT JOIN coverage c ON c.org_id = o.org_id AND c.is_expected
GROUP BY o.org_id`;
  },
};

const failed: Check = {
  key: 'failed',
  title: 'Failed units',
  description:
    'Expected units whose last pull failed. The next run pulls them again; daywalk status names them.',
  select: (source) => expectedOf(source, 'export_units', "x.state = 'failed'"),
};

const doubted: Check = {
  key: 'doubted',
  title: 'Doubted units',
  description:
    'Expected units that the service no longer sends in full, unless a few users seem to have left. Nothing was deleted. Compare daywalk status with the service; daywalk run can accept the loss.',
  select: (source) =>
    expectedOf(
      source,
      'export_units',
      `x.state = 'doubted' AND COALESCE(CAST(x.doubt AS TEXT), '') NOT LIKE '%"leaver"%'`,
    ),
};

const missing: Check = {
  key: 'missing',
  title: 'Missing days',
  description: `Expected days and streams that are not stored ${MISSING_AFTER_DAYS} days after their end. daywalk status says why; a run without flags pulls them again.`,
  select: ({ daysAgo, textOfDay }) =>
    countOf(`SELECT c.org_id FROM coverage c
  WHERE c.is_expected AND ${UNANSWERED} AND ${textOfDay('c.date')} < ${daysAgo(MISSING_AFTER_DAYS)}`),
};

const quarantined: Check = {
  key: 'quarantined',
  title: 'Records in quarantine',
  description:
    'Records of expected days that could not be stored and that nobody has accepted. daywalk quarantine list shows them.',
  select: (source) => unlessPublished(expectedOf(source, 'quarantine', 'x.accepted_at IS NULL')),
};

const incidents: Check = {
  key: 'incidents',
  title: 'Open incidents',
  description:
    'Incidents of the organization that notifications have reported and that are not over, with the failed runs of the warehouse. 0 if notifications are off.',
  select: ({ elementsOf }) =>
    unlessPublished(`SELECT o.org_id, COUNT(x.scope) AS value
FROM (SELECT DISTINCT org_id FROM export_units) o
LEFT JOIN (SELECT s.org_id AS scope FROM export_state s, ${elementsOf("s.value -> 'incidents'")}
  WHERE s.name = 'incidents' AND (i.value ->> 'endedAt') IS NULL) x ON x.scope IN (o.org_id, '')
GROUP BY o.org_id`),
};

/** The budgets that are exceeded, or will be at the end of the month, as `daywalk budget check` judges them. */
export const overBudget: Check = {
  key: 'budget',
  title: 'Teams over budget',
  description:
    'Teams whose cost in the newest month, or its forecast, is above their budget. daywalk budget check names them, and says if a price is missing.',
  select: () =>
    countOf(`SELECT f.org_id FROM (${NEWEST_FORECAST}) AS f
  WHERE f.currencies = 1 AND f.currency = f.budget_currency AND (f.cost_so_far > f.budget * ${BUDGET_ROUNDING} OR f.cost_forecast > f.budget * ${BUDGET_ROUNDING})`),
};

/** The checks of the dashboard about the health of the data. */
export const healthChecks: readonly Check[] = [stale, failed, doubted, missing, quarantined, incidents];

/** Every check, in the order of the alerts. */
export const allChecks: readonly Check[] = [...healthChecks, overBudget];
