import { FIRST_DAY } from '../../src/core/day.ts';
import { day, label, metric, orgColumn, type View } from '../define.ts';
import { type CostDialect, costsInPostgres, costsInSqlite, IS_STORED, pricedOn } from './team-days.ts';

const select = ({ cast, ledgerDay }: CostDialect) => `
WITH day_tokens AS (
  SELECT org_id, date, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM user_daily GROUP BY org_id, date
),
last_days AS (
  SELECT x.org_id, MAX(x.date) AS date FROM export_units x
  WHERE x.stream = 'users' AND (x.state = 'loaded' OR (x.state NOT IN ('empty', 'awaiting') AND x.rows > 0 AND ${IS_STORED}))
  GROUP BY x.org_id
),
days AS (
  SELECT l.org_id, d.date, t.has_tokens,
    CASE WHEN NOT ${IS_STORED} OR x.state IS NULL THEN NULL WHEN t.has_tokens IS NULL THEN 0 ELSE t.billable_tokens END AS billable_tokens
  FROM last_days l
  JOIN dates d ON ${ledgerDay} <= l.date
  LEFT JOIN export_units x ON x.org_id = l.org_id AND x.stream = 'users' AND x.date = ${ledgerDay}
  LEFT JOIN day_tokens t ON t.org_id = l.org_id AND t.date = d.date
)
SELECT n.org_id, n.date, p.currency, ${cast('n.billable_tokens', 'REAL')} AS billable_tokens,
  ${cast('CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN NULL ELSE n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 END', 'REAL')} AS cost
FROM days n
LEFT JOIN prices p ON p.org_id = n.org_id AND ${pricedOn('n.date')}
`;

export const costDaily = {
  name: 'cost_daily',
  doc: `Credits of all users and their cost by day: one row per organization and day from ${FIRST_DAY} to the newest loaded day.`,
  columns: {
    ...orgColumn,
    date: day('UTC day'),
    currency: label('ISO 4217 code of the price of the day; NULL without a price'),
    billable_tokens: metric('credits consumed; NULL if the day is not stored'),
    cost: metric('cost in this currency; NULL if the day is not stored, or has credits but no price'),
  },
  select: {
    sqlite: select(costsInSqlite),
    postgres: select(costsInPostgres),
  },
} satisfies View;
