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
