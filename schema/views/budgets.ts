import { amount, key, label, metric, orgColumn, ratio, type View } from '../define.ts';
import { BUDGET_ROUNDING, BUDGET_RULE, type BudgetRule } from '../query.ts';
import {
  type CostDialect,
  costsInPostgres,
  costsInSqlite,
  LAST_DAY,
  MONTHS,
  selectForecasts,
  unitDays,
} from './costs.ts';
import { type DayDialect, daysInPostgres, daysInSqlite } from './dialect.ts';

/** A team without a row in a month has used nothing, if anything of the month is stored. */
const used = (column: string, whenIdle: string) =>
  `CASE WHEN b.has_other_currency = 1 THEN NULL WHEN f.team IS NULL THEN ${whenIdle} ELSE f.${column} END`;

const STATUS = `CASE WHEN has_other_currency = 1 THEN 'other currency'
    ${BUDGET_RULE.map((one) => `WHEN ${conditionOf(one)} THEN '${one.status}'`).join('\n    ')}
    ELSE 'ok' END`;

function conditionOf({ unknown, above }: BudgetRule): string {
  return above === undefined
    ? unknown.map((name) => `${name} IS NULL`).join(' AND ')
    : `${above} > budget * ${BUDGET_ROUNDING}`;
}

const selectOutlook = (costs: CostDialect, days: DayDialect) => `
WITH forecasts AS (${selectForecasts(costs)}),
${unitDays(costs)},
${MONTHS},
stored AS (
  SELECT m.org_id, m.month, m.weekdays_settled, MAX(d.is_stored) AS is_stored
  FROM months m JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
  GROUP BY m.org_id, m.month, m.weekdays_settled
),
judged AS (
  SELECT b.org_id, b.month, b.team, b.amount, b.currency,
    CASE WHEN MIN(p.currency) <> b.currency OR MAX(p.currency) <> b.currency THEN 1 ELSE 0 END AS has_other_currency
  FROM budgets b
  LEFT JOIN prices p ON p.org_id = b.org_id AND p.valid_from <= ${days.endOfMonth('b.month')}
    AND COALESCE(p.valid_to, ${LAST_DAY}) >= ${days.startOfMonth('b.month')}
  GROUP BY b.org_id, b.month, b.team, b.amount, b.currency
),
outlook AS (
  SELECT b.org_id, b.month, b.team, b.currency, b.amount AS budget, b.has_other_currency,
    ${used('tokens_so_far', 'CASE WHEN s.is_stored = 1 THEN 0 END')} AS tokens_so_far,
    ${used('cost_so_far', 'CASE WHEN s.is_stored = 1 THEN 0 END')} AS cost_so_far,
    ${used('cost_forecast', 'CASE WHEN s.weekdays_settled > 0 THEN 0 END')} AS cost_forecast
  FROM judged b
  LEFT JOIN forecasts f ON f.org_id = b.org_id AND f.month = b.month AND f.team = b.team AND b.has_other_currency = 0
  LEFT JOIN stored s ON s.org_id = b.org_id AND s.month = b.month
)
SELECT org_id, month, team, currency, budget, ${costs.cast('cost_so_far', 'REAL')} AS cost_so_far,
  ${costs.cast('cost_forecast', 'REAL')} AS cost_forecast,
  ${costs.cast('cost_so_far / NULLIF(budget, 0)', 'REAL')} AS share_used, ${costs.cast(STATUS, 'TEXT')} AS status
FROM outlook
`;

export const budgetOutlook = {
  name: 'budget_outlook',
  doc:
    'Each budget with what its team has used and will have used at the end of the month, as daywalk budget check prints them: one row per ' +
    'budget. Teams are those of user_teams, which may lag behind until the next run; daywalk budget check does not.',
  columns: {
    ...orgColumn,
    month: key('month, YYYY-MM'),
    team: key('team; unassigned means users without a team'),
    currency: label('ISO 4217 code of the budget'),
    budget: amount('budget of the month in this currency'),
    cost_so_far: metric(
      'cost of all stored days; NULL without a stored day, without a price, or if the prices of the month have another currency',
    ),
    cost_forecast: metric('cost expected for the whole month, as in month_forecast'),
    share_used: ratio('cost_so_far / budget; NULL for a budget of 0'),
    status: label(
      'ok, over budget, forecast over budget, no price, other currency, or no data, as daywalk budget check says',
    ),
  },
  select: {
    sqlite: selectOutlook(costsInSqlite, daysInSqlite),
    postgres: selectOutlook(costsInPostgres, daysInPostgres),
  },
} satisfies View;
