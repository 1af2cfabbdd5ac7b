DROP VIEW `cost_monthly_by_team`;--> statement-breakpoint
DROP VIEW `month_forecast`;--> statement-breakpoint
CREATE VIEW `budget_outlook` AS WITH forecasts AS (
WITH unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND x.settled_at IS NOT NULL AND x.state <> 'doubted'
      AND COALESCE(x.confirmed, '') <> 'age' THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
team_days AS (
  SELECT org_id, month, date, team, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM (
    SELECT m.org_id, m.month, m.first_day AS date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN user_monthly u ON u.org_id = m.org_id AND u.month = m.month
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.last_active_on AND t.valid_to >= u.first_active_on
    WHERE m.is_uniform = 1
      AND (t.user_id IS NULL OR (t.valid_from <= u.first_active_on AND t.valid_to >= u.last_active_on))
    UNION ALL
    SELECT o.org_id, o.month, o.first_day, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM (
      SELECT DISTINCT m.org_id, m.month, m.first_day, w.user_id, w.first_active_on, w.last_active_on
      FROM months m
      CROSS JOIN user_monthly w ON w.org_id = m.org_id AND w.month = m.month
      CROSS JOIN user_teams t ON t.org_id = w.org_id AND t.user_id = w.user_id
        AND t.valid_from <= w.last_active_on AND t.valid_to >= w.first_active_on
      WHERE m.is_uniform = 1 AND (t.valid_from > w.first_active_on OR t.valid_to < w.last_active_on)
    ) o
    CROSS JOIN dates c ON c.date BETWEEN o.first_active_on AND o.last_active_on
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.date = c.date AND u.user_id = o.user_id
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    UNION ALL
    SELECT d.org_id, d.month, d.date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
    CROSS JOIN user_daily u ON u.org_id = d.org_id AND u.date = d.date
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    WHERE m.is_uniform = 0
  ) u
  GROUP BY org_id, month, date, team
),
calendar AS (
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day FROM dates GROUP BY month
),
priced_months AS (
  SELECT p.org_id, c.month, CASE WHEN MIN(p.currency) = MAX(p.currency) THEN MIN(p.currency) END AS only_currency
  FROM calendar c
  JOIN prices p ON p.valid_from <= c.last_day AND COALESCE(p.valid_to, '9999-12-31') >= c.first_day
  GROUP BY p.org_id, c.month
),
team_costs AS (
  SELECT n.org_id, n.month, n.date, n.team, COALESCE(p.currency, c.only_currency) AS currency, n.billable_tokens,
    CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN 1 ELSE 0 END AS lacks_price,
    n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 AS cost
  FROM team_days n
  LEFT JOIN prices p ON p.org_id = n.org_id AND p.valid_from <= n.date AND COALESCE(p.valid_to, '9999-12-31') >= n.date
  LEFT JOIN priced_months c ON c.org_id = n.org_id AND c.month = n.month
),
working_days AS (
  SELECT m.org_id, m.month, SUM(CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = m.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END) AS weekdays
  FROM months m
  JOIN dates d ON d.month = m.month
  GROUP BY m.org_id, m.month
),
team_months AS (
  SELECT t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency,
    SUM(t.billable_tokens) AS tokens_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.billable_tokens END) END AS tokens_settled,
    SUM(t.cost) AS cost_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.cost END) END AS cost_settled,
    MAX(MAX(t.lacks_price)) OVER (PARTITION BY t.org_id, t.month, t.team) AS lacks_price
  FROM team_costs t
  JOIN unit_days d ON d.org_id = t.org_id AND d.date = t.date
  JOIN months m ON m.org_id = t.org_id AND m.month = t.month
  JOIN working_days c ON c.org_id = t.org_id AND c.month = t.month
  LEFT JOIN priced_months p ON p.org_id = t.org_id AND p.month = t.month
  GROUP BY t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency
)
SELECT org_id, month, CAST(team AS TEXT) AS team, CAST(currency AS TEXT) AS currency,
  CAST(settled_days AS INTEGER) AS settled_days, CAST(weekdays_settled AS INTEGER) AS weekdays_settled,
  CAST(weekdays AS INTEGER) AS weekdays,
  CAST(tokens_so_far AS REAL) AS tokens_so_far, CAST(CASE WHEN weekdays_settled = weekdays THEN tokens_settled ELSE tokens_settled * weekdays / NULLIF(weekdays_settled, 0) END AS REAL) AS tokens_forecast,
  CAST(CASE WHEN lacks_price = 0 THEN cost_so_far END AS REAL) AS cost_so_far,
  CAST(CASE WHEN lacks_price = 0 THEN cost_settled END AS REAL) AS cost_settled,
  CAST(CASE WHEN lacks_price = 0 AND only_currency IS NOT NULL THEN CASE WHEN weekdays_settled = weekdays THEN cost_settled ELSE cost_settled * weekdays / NULLIF(weekdays_settled, 0) END END AS REAL) AS cost_forecast
FROM team_months
),
unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND x.settled_at IS NOT NULL AND x.state <> 'doubted'
      AND COALESCE(x.confirmed, '') <> 'age' THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
stored AS (
  SELECT m.org_id, m.month, m.weekdays_settled, MAX(d.is_stored) AS is_stored
  FROM months m JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
  GROUP BY m.org_id, m.month, m.weekdays_settled
),
judged AS (
  SELECT b.org_id, b.month, b.team, b.amount, b.currency,
    CASE WHEN MIN(p.currency) <> b.currency OR MAX(p.currency) <> b.currency THEN 1 ELSE 0 END AS has_other_currency
  FROM budgets b
  LEFT JOIN prices p ON p.org_id = b.org_id AND p.valid_from <= date(b.month || '-01', '+1 month', '-1 day')
    AND COALESCE(p.valid_to, '9999-12-31') >= b.month || '-01'
  GROUP BY b.org_id, b.month, b.team, b.amount, b.currency
),
outlook AS (
  SELECT b.org_id, b.month, b.team, b.currency, b.amount AS budget, b.has_other_currency,
    CASE WHEN b.has_other_currency = 1 THEN NULL WHEN f.team IS NULL THEN CASE WHEN s.is_stored = 1 THEN 0 END ELSE f.tokens_so_far END AS tokens_so_far,
    CASE WHEN b.has_other_currency = 1 THEN NULL WHEN f.team IS NULL THEN CASE WHEN s.is_stored = 1 THEN 0 END ELSE f.cost_so_far END AS cost_so_far,
    CASE WHEN b.has_other_currency = 1 THEN NULL WHEN f.team IS NULL THEN CASE WHEN s.weekdays_settled > 0 THEN 0 END ELSE f.cost_forecast END AS cost_forecast
  FROM judged b
  LEFT JOIN forecasts f ON f.org_id = b.org_id AND f.month = b.month AND f.team = b.team AND b.has_other_currency = 0
  LEFT JOIN stored s ON s.org_id = b.org_id AND s.month = b.month
)
SELECT org_id, month, team, currency, budget, CAST(cost_so_far AS REAL) AS cost_so_far,
  CAST(cost_forecast AS REAL) AS cost_forecast,
  CAST(cost_so_far / NULLIF(budget, 0) AS REAL) AS share_used, CAST(CASE WHEN has_other_currency = 1 THEN 'other currency'
    WHEN cost_so_far IS NULL AND tokens_so_far IS NULL THEN 'no data'
    WHEN cost_so_far IS NULL THEN 'no price'
    WHEN cost_so_far > budget * 1.000000001 THEN 'over budget'
    WHEN cost_forecast > budget * 1.000000001 THEN 'forecast over budget'
    ELSE 'ok' END AS TEXT) AS status
FROM outlook;--> statement-breakpoint
CREATE VIEW `usage_by_user_model` AS SELECT u.org_id, u.date, u.user_id, u.model_id, u.model_tier,
  CAST(COALESCE(t.team, 'unassigned') AS TEXT) AS team, t.cost_center,
  u.billable_tokens, u.input_tokens, u.output_tokens, u.cache_read_tokens, u.cache_write_tokens,
  p.currency, p.price_per_million,
  CAST(CASE WHEN u.billable_tokens <> 0 AND p.currency IS NULL THEN NULL ELSE u.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 END AS REAL) AS cost
FROM tokens_daily_by_user_model u
LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
LEFT JOIN prices p ON p.org_id = u.org_id AND p.valid_from <= u.date AND COALESCE(p.valid_to, '9999-12-31') >= u.date;--> statement-breakpoint
CREATE VIEW `cohorts_monthly` AS WITH whole AS (
  SELECT org_id FROM export_units WHERE stream = 'users'
  GROUP BY org_id HAVING MAX(CASE WHEN state = 'expired' THEN 1 ELSE 0 END) = 0
), members AS (
  SELECT org_id, month, MIN(month) OVER (PARTITION BY org_id, user_id) AS cohort
  FROM user_monthly WHERE org_id IN (SELECT org_id FROM whole)
), active AS (
  SELECT org_id, cohort, month, COUNT(*) AS people FROM members GROUP BY org_id, cohort, month
), sizes AS (
  SELECT org_id, cohort, people AS size FROM active WHERE month = cohort
)
SELECT s.org_id, CAST(s.cohort AS TEXT) AS cohort, o.month,
  CAST(COALESCE(a.people, 0) AS INTEGER) AS people, CAST(s.size AS INTEGER) AS size
FROM sizes s
JOIN org_monthly o ON o.org_id = s.org_id AND o.month >= s.cohort
LEFT JOIN active a ON a.org_id = s.org_id AND a.cohort = s.cohort AND a.month = o.month;--> statement-breakpoint
CREATE VIEW `cost_monthly_by_team` AS WITH unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND x.settled_at IS NOT NULL AND x.state <> 'doubted'
      AND COALESCE(x.confirmed, '') <> 'age' THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
team_days AS (
  SELECT org_id, month, date, team, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM (
    SELECT m.org_id, m.month, m.first_day AS date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN user_monthly u ON u.org_id = m.org_id AND u.month = m.month
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.last_active_on AND t.valid_to >= u.first_active_on
    WHERE m.is_uniform = 1
      AND (t.user_id IS NULL OR (t.valid_from <= u.first_active_on AND t.valid_to >= u.last_active_on))
    UNION ALL
    SELECT o.org_id, o.month, o.first_day, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM (
      SELECT DISTINCT m.org_id, m.month, m.first_day, w.user_id, w.first_active_on, w.last_active_on
      FROM months m
      CROSS JOIN user_monthly w ON w.org_id = m.org_id AND w.month = m.month
      CROSS JOIN user_teams t ON t.org_id = w.org_id AND t.user_id = w.user_id
        AND t.valid_from <= w.last_active_on AND t.valid_to >= w.first_active_on
      WHERE m.is_uniform = 1 AND (t.valid_from > w.first_active_on OR t.valid_to < w.last_active_on)
    ) o
    CROSS JOIN dates c ON c.date BETWEEN o.first_active_on AND o.last_active_on
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.date = c.date AND u.user_id = o.user_id
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    UNION ALL
    SELECT d.org_id, d.month, d.date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
    CROSS JOIN user_daily u ON u.org_id = d.org_id AND u.date = d.date
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    WHERE m.is_uniform = 0
  ) u
  GROUP BY org_id, month, date, team
),
calendar AS (
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day FROM dates GROUP BY month
),
priced_months AS (
  SELECT p.org_id, c.month, CASE WHEN MIN(p.currency) = MAX(p.currency) THEN MIN(p.currency) END AS only_currency
  FROM calendar c
  JOIN prices p ON p.valid_from <= c.last_day AND COALESCE(p.valid_to, '9999-12-31') >= c.first_day
  GROUP BY p.org_id, c.month
),
team_costs AS (
  SELECT n.org_id, n.month, n.date, n.team, COALESCE(p.currency, c.only_currency) AS currency, n.billable_tokens,
    CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN 1 ELSE 0 END AS lacks_price,
    n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 AS cost
  FROM team_days n
  LEFT JOIN prices p ON p.org_id = n.org_id AND p.valid_from <= n.date AND COALESCE(p.valid_to, '9999-12-31') >= n.date
  LEFT JOIN priced_months c ON c.org_id = n.org_id AND c.month = n.month
)
SELECT org_id, month, CAST(team AS TEXT) AS team, CAST(currency AS TEXT) AS currency,
  CAST(SUM(billable_tokens) AS REAL) AS billable_tokens,
  CAST(CASE WHEN MAX(MAX(lacks_price)) OVER (PARTITION BY org_id, month, team) = 0 THEN SUM(cost) END AS REAL) AS cost
FROM team_costs
GROUP BY org_id, month, team, currency;--> statement-breakpoint
CREATE VIEW `month_forecast` AS WITH unit_days AS (
  SELECT x.org_id, d.date, d.month, CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = x.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END AS is_working,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN (x.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (x.rows > 0 AND x.first_loaded_at IS NOT NULL)) AND x.settled_at IS NOT NULL AND x.state <> 'doubted'
      AND COALESCE(x.confirmed, '') <> 'age' THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON d.date = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
),
months AS (
  SELECT m.org_id, m.month, m.first_day, m.settled_days, m.weekdays_settled,
    CASE WHEN m.is_stale = 0 AND m.settled_days IN (0, m.days) AND MAX(
      CASE WHEN p.valid_from > m.first_day OR p.valid_to < m.last_day THEN 1 ELSE 0 END) = 0
    THEN 1 ELSE 0 END AS is_uniform
  FROM (
    SELECT org_id, month, MIN(date) AS first_day, MAX(date) AS last_day, COUNT(*) AS days,
      SUM(is_settled) AS settled_days, SUM(is_working * is_settled) AS weekdays_settled,
      MAX(is_stale) AS is_stale
    FROM unit_days GROUP BY org_id, month HAVING MAX(is_expired) = 0
  ) m
  LEFT JOIN prices p ON p.org_id = m.org_id AND p.valid_from <= m.last_day
    AND COALESCE(p.valid_to, '9999-12-31') >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
),
team_days AS (
  SELECT org_id, month, date, team, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM (
    SELECT m.org_id, m.month, m.first_day AS date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN user_monthly u ON u.org_id = m.org_id AND u.month = m.month
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.last_active_on AND t.valid_to >= u.first_active_on
    WHERE m.is_uniform = 1
      AND (t.user_id IS NULL OR (t.valid_from <= u.first_active_on AND t.valid_to >= u.last_active_on))
    UNION ALL
    SELECT o.org_id, o.month, o.first_day, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM (
      SELECT DISTINCT m.org_id, m.month, m.first_day, w.user_id, w.first_active_on, w.last_active_on
      FROM months m
      CROSS JOIN user_monthly w ON w.org_id = m.org_id AND w.month = m.month
      CROSS JOIN user_teams t ON t.org_id = w.org_id AND t.user_id = w.user_id
        AND t.valid_from <= w.last_active_on AND t.valid_to >= w.first_active_on
      WHERE m.is_uniform = 1 AND (t.valid_from > w.first_active_on OR t.valid_to < w.last_active_on)
    ) o
    CROSS JOIN dates c ON c.date BETWEEN o.first_active_on AND o.last_active_on
    CROSS JOIN user_daily u ON u.org_id = o.org_id AND u.date = c.date AND u.user_id = o.user_id
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    UNION ALL
    SELECT d.org_id, d.month, d.date, COALESCE(t.team, 'unassigned') AS team, u.billable_tokens
    FROM months m
    CROSS JOIN unit_days d ON d.org_id = m.org_id AND d.month = m.month
    CROSS JOIN user_daily u ON u.org_id = d.org_id AND u.date = d.date
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date
    WHERE m.is_uniform = 0
  ) u
  GROUP BY org_id, month, date, team
),
calendar AS (
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day FROM dates GROUP BY month
),
priced_months AS (
  SELECT p.org_id, c.month, CASE WHEN MIN(p.currency) = MAX(p.currency) THEN MIN(p.currency) END AS only_currency
  FROM calendar c
  JOIN prices p ON p.valid_from <= c.last_day AND COALESCE(p.valid_to, '9999-12-31') >= c.first_day
  GROUP BY p.org_id, c.month
),
team_costs AS (
  SELECT n.org_id, n.month, n.date, n.team, COALESCE(p.currency, c.only_currency) AS currency, n.billable_tokens,
    CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN 1 ELSE 0 END AS lacks_price,
    n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 AS cost
  FROM team_days n
  LEFT JOIN prices p ON p.org_id = n.org_id AND p.valid_from <= n.date AND COALESCE(p.valid_to, '9999-12-31') >= n.date
  LEFT JOIN priced_months c ON c.org_id = n.org_id AND c.month = n.month
),
working_days AS (
  SELECT m.org_id, m.month, SUM(CASE WHEN d.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = m.org_id AND e.date = d.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END) AS weekdays
  FROM months m
  JOIN dates d ON d.month = m.month
  GROUP BY m.org_id, m.month
),
team_months AS (
  SELECT t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency,
    SUM(t.billable_tokens) AS tokens_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.billable_tokens END) END AS tokens_settled,
    SUM(t.cost) AS cost_so_far, CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.cost END) END AS cost_settled,
    MAX(MAX(t.lacks_price)) OVER (PARTITION BY t.org_id, t.month, t.team) AS lacks_price
  FROM team_costs t
  JOIN unit_days d ON d.org_id = t.org_id AND d.date = t.date
  JOIN months m ON m.org_id = t.org_id AND m.month = t.month
  JOIN working_days c ON c.org_id = t.org_id AND c.month = t.month
  LEFT JOIN priced_months p ON p.org_id = t.org_id AND p.month = t.month
  GROUP BY t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency
)
SELECT org_id, month, CAST(team AS TEXT) AS team, CAST(currency AS TEXT) AS currency,
  CAST(settled_days AS INTEGER) AS settled_days, CAST(weekdays_settled AS INTEGER) AS weekdays_settled,
  CAST(weekdays AS INTEGER) AS weekdays,
  CAST(tokens_so_far AS REAL) AS tokens_so_far, CAST(CASE WHEN weekdays_settled = weekdays THEN tokens_settled ELSE tokens_settled * weekdays / NULLIF(weekdays_settled, 0) END AS REAL) AS tokens_forecast,
  CAST(CASE WHEN lacks_price = 0 THEN cost_so_far END AS REAL) AS cost_so_far,
  CAST(CASE WHEN lacks_price = 0 THEN cost_settled END AS REAL) AS cost_settled,
  CAST(CASE WHEN lacks_price = 0 AND only_currency IS NOT NULL THEN CASE WHEN weekdays_settled = weekdays THEN cost_settled ELSE cost_settled * weekdays / NULLIF(weekdays_settled, 0) END END AS REAL) AS cost_forecast
FROM team_months;