import { count, key, label, metric, orgColumn, type View } from '../define.ts';
import { type CostDialect, costsInPostgres, costsInSqlite, teamDays } from './team-days.ts';

/** The sum over the settled days: 0 for a team without rows on them. */
const settled = (column: string) =>
  `CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.${column} END) END`;

/** A month whose weekdays are all settled is not multiplied, so that no rounding puts it above its budget. */
const forecast = (column: string) =>
  `CASE WHEN weekdays_settled = weekdays THEN ${column} ELSE ${column} * weekdays / NULLIF(weekdays_settled, 0) END`;

const select = (dialect: CostDialect) => `
WITH ${teamDays(dialect)},
team_months AS (
  SELECT t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency,
    SUM(t.billable_tokens) AS tokens_so_far, ${settled('billable_tokens')} AS tokens_settled,
    SUM(t.cost) AS cost_so_far, ${settled('cost')} AS cost_settled,
    MAX(MAX(t.lacks_price)) OVER (PARTITION BY t.org_id, t.month, t.team) AS lacks_price
  FROM team_costs t
  JOIN unit_days d ON d.org_id = t.org_id AND d.date = t.date
  JOIN months m ON m.org_id = t.org_id AND m.month = t.month
  JOIN calendar c ON c.month = t.month
  LEFT JOIN priced_months p ON p.org_id = t.org_id AND p.month = t.month
  GROUP BY t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency
)
SELECT org_id, month, ${dialect.cast('team', 'TEXT')} AS team, ${dialect.cast('currency', 'TEXT')} AS currency,
  ${dialect.cast('settled_days', 'INTEGER')} AS settled_days, ${dialect.cast('weekdays_settled', 'INTEGER')} AS weekdays_settled,
  ${dialect.cast('weekdays', 'INTEGER')} AS weekdays,
  ${dialect.cast('tokens_so_far', 'REAL')} AS tokens_so_far, ${dialect.cast(forecast('tokens_settled'), 'REAL')} AS tokens_forecast,
  ${dialect.cast('CASE WHEN lacks_price = 0 THEN cost_so_far END', 'REAL')} AS cost_so_far,
  ${dialect.cast('CASE WHEN lacks_price = 0 THEN cost_settled END', 'REAL')} AS cost_settled,
  ${dialect.cast(`CASE WHEN lacks_price = 0 AND only_currency IS NOT NULL THEN ${forecast('cost_settled')} END`, 'REAL')} AS cost_forecast
FROM team_months
`;

export const monthForecast = {
  name: 'month_forecast',
  doc:
    'What each team will have used at the end of the month: one row per month, team and currency. The forecast is the sum of ' +
    'the settled days so far, divided by the number of their Mondays to Fridays, times the Mondays to Fridays of the month. Teams are ' +
    'those of user_teams, which may lag behind until the next run; daywalk budget check does not.',
  columns: {
    ...orgColumn,
    month: key('month, YYYY-MM; the first one begins on 2026-01-14'),
    team: key('team of the users on each day; unassigned without one'),
    currency: label('ISO 4217 code, as in cost_monthly_by_team'),
    settled_days: count('number of settled days of the month'),
    weekdays_settled: count('number of settled Mondays to Fridays'),
    weekdays: count('number of Mondays to Fridays of the month'),
    tokens_so_far: metric('credits of all stored days'),
    tokens_forecast: metric('credits expected for the whole month; NULL before the first settled weekday'),
    cost_so_far: metric('cost of all stored days; NULL if the team has credits on a day without a price'),
    cost_settled: metric('cost of the settled days, from which the forecast is made'),
    cost_forecast: metric(
      'cost expected for the whole month; NULL before the first settled weekday, without a price, or if the prices of ' +
        'the month have several currencies',
    ),
  },
  select: {
    sqlite: select(costsInSqlite),
    postgres: select(costsInPostgres),
  },
} satisfies View;
