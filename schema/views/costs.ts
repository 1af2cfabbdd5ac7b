import { FIRST_DAY } from '../../src/core/day.ts';
import { count, day, key, label, metric, orgColumn, ratio, type View } from '../define.ts';
import { forecastOf, settledUnit, storedUnit, workingDay } from '../query.ts';
import { CREDIT_COLUMNS, credits, tokensDailyByUserModel } from '../tables/daily.ts';
import { type Cast, castInSqlite, plain } from './dialect.ts';

/** What differs between the databases in the views about costs. */
export interface CostDialect {
  readonly cast: Cast;
  /** A day of `dates` as the ledger writes it. */
  readonly ledgerDay: string;
  /** A join that reads its left side first. SQLite would rather begin with the largest table; PostgreSQL knows better. */
  readonly leftFirst: string;
}

export const costsInSqlite: CostDialect = {
  cast: castInSqlite,
  ledgerDay: 'd.date',
  leftFirst: 'CROSS JOIN',
};

export const costsInPostgres: CostDialect = {
  cast: plain,
  ledgerDay: "to_char(d.date, 'YYYY-MM-DD')",
  leftFirst: 'JOIN',
};

/** A price that has no end ends on this day. */
export const LAST_DAY = "'9999-12-31'";

/** The condition that a price is valid on a day. */
function pricedOn(day: string): string {
  return `p.valid_from <= ${day} AND COALESCE(p.valid_to, ${LAST_DAY}) >= ${day}`;
}

/**
 * The days of the units of `users`: whether each is stored, settled (neither doubted nor settled by its age alone), and
 * whether `user_monthly` was computed from other content.
 */
export const unitDays = ({ ledgerDay }: CostDialect) => `unit_days AS (
  SELECT x.org_id, d.date, d.month, ${workingDay('d', 'x.org_id')} AS is_working,
    CASE WHEN ${storedUnit('x')} THEN 1 ELSE 0 END AS is_stored,
    CASE WHEN ${storedUnit('x')} AND ${settledUnit('x')} THEN 1 ELSE 0 END AS is_settled,
    CASE WHEN x.state = 'expired' THEN 1 ELSE 0 END AS is_expired,
    CASE WHEN x.content_sha256 IS NULL OR k.content_sha256 = x.content_sha256 THEN 0 ELSE 1 END AS is_stale
  FROM export_units x
  JOIN dates d ON ${ledgerDay} = x.date
  LEFT JOIN rollup_marks k ON k.org_id = x.org_id AND k.rollup = 'monthly' AND k.date = x.date
  WHERE x.stream = 'users'
)`;

/**
 * The months of these days, without those of which people have expired: what is left would pass for all. A month is uniform if `user_monthly` is current, one price or none is valid on all its days, and
 * all of them are settled or none is. Its first day then represents every day.
 */
export const MONTHS = `months AS (
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
    AND COALESCE(p.valid_to, ${LAST_DAY}) >= m.first_day
  GROUP BY m.org_id, m.month, m.first_day, m.last_day, m.days, m.settled_days, m.weekdays_settled, m.is_stale
)`;

const TEAM = "COALESCE(t.team, 'unassigned') AS team";
const TEAM_OF_DAY = `LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.date AND t.valid_to >= u.date`;

/** Users of uniform months who were in one team, or in none, on all their days: one row per user. */
const usersWhoStayed = ({ leftFirst }: CostDialect) => `
    SELECT m.org_id, m.month, m.first_day AS date, ${TEAM}, u.billable_tokens
    FROM months m
    ${leftFirst} user_monthly u ON u.org_id = m.org_id AND u.month = m.month
    LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
      AND t.valid_from <= u.last_active_on AND t.valid_to >= u.first_active_on
    WHERE m.is_uniform = 1
      AND (t.user_id IS NULL OR (t.valid_from <= u.first_active_on AND t.valid_to >= u.last_active_on))`;

/** The other users of uniform months: one row per user and day, each of which is found by its key. */
const usersWhoMoved = ({ leftFirst }: CostDialect) => `
    SELECT o.org_id, o.month, o.first_day, ${TEAM}, u.billable_tokens
    FROM (
      SELECT DISTINCT m.org_id, m.month, m.first_day, w.user_id, w.first_active_on, w.last_active_on
      FROM months m
      ${leftFirst} user_monthly w ON w.org_id = m.org_id AND w.month = m.month
      ${leftFirst} user_teams t ON t.org_id = w.org_id AND t.user_id = w.user_id
        AND t.valid_from <= w.last_active_on AND t.valid_to >= w.first_active_on
      WHERE m.is_uniform = 1 AND (t.valid_from > w.first_active_on OR t.valid_to < w.last_active_on)
    ) o
    ${leftFirst} dates c ON c.date BETWEEN o.first_active_on AND o.last_active_on
    ${leftFirst} user_daily u ON u.org_id = o.org_id AND u.date = c.date AND u.user_id = o.user_id
    ${TEAM_OF_DAY}`;

/** All users of the other months: one row per user and day. */
const usersByDay = ({ leftFirst }: CostDialect) => `
    SELECT d.org_id, d.month, d.date, ${TEAM}, u.billable_tokens
    FROM months m
    ${leftFirst} unit_days d ON d.org_id = m.org_id AND d.month = m.month
    ${leftFirst} user_daily u ON u.org_id = d.org_id AND u.date = d.date
    ${TEAM_OF_DAY}
    WHERE m.is_uniform = 0`;

/**
 * Common tables for the costs of teams. `team_days`: the credits of each team by day, those of a uniform month on its
 * first day. `calendar`: the months. `priced_months`: the only currency of the month's prices, and whether there are more.
 *
 * Joining each row of `user_daily` with its team takes seconds for a large organization, so that the months that allow it
 * are read from `user_monthly`.
 */
const teamDays = (dialect: CostDialect) => `${unitDays(dialect)},
${MONTHS},
team_days AS (
  SELECT org_id, month, date, team, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM (${usersWhoStayed(dialect)}
    UNION ALL${usersWhoMoved(dialect)}
    UNION ALL${usersByDay(dialect)}
  ) u
  GROUP BY org_id, month, date, team
),
calendar AS (
  SELECT month, MIN(date) AS first_day, MAX(date) AS last_day FROM dates GROUP BY month
),
priced_months AS (
  SELECT p.org_id, c.month, CASE WHEN MIN(p.currency) = MAX(p.currency) THEN MIN(p.currency) END AS only_currency
  FROM calendar c
  JOIN prices p ON p.valid_from <= c.last_day AND COALESCE(p.valid_to, ${LAST_DAY}) >= c.first_day
  GROUP BY p.org_id, c.month
),
team_costs AS (
  SELECT n.org_id, n.month, n.date, n.team, COALESCE(p.currency, c.only_currency) AS currency, n.billable_tokens,
    CASE WHEN n.has_tokens = 1 AND p.currency IS NULL THEN 1 ELSE 0 END AS lacks_price,
    n.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 AS cost
  FROM team_days n
  LEFT JOIN prices p ON p.org_id = n.org_id AND ${pricedOn('n.date')}
  LEFT JOIN priced_months c ON c.org_id = n.org_id AND c.month = n.month
)`;

const selectDailyCosts = ({ cast, ledgerDay }: CostDialect) => `
WITH day_tokens AS (
  SELECT org_id, date, SUM(billable_tokens) AS billable_tokens,
    MAX(CASE WHEN billable_tokens <> 0 THEN 1 ELSE 0 END) AS has_tokens
  FROM user_daily GROUP BY org_id, date
),
last_days AS (
  SELECT x.org_id, MAX(x.date) AS date FROM export_units x
  WHERE x.stream = 'users' AND (x.state = 'loaded' OR (x.state NOT IN ('empty', 'awaiting') AND x.rows > 0 AND ${storedUnit('x')}))
  GROUP BY x.org_id
),
days AS (
  SELECT l.org_id, d.date, t.has_tokens,
    CASE WHEN NOT ${storedUnit('x')} OR x.state IS NULL THEN NULL WHEN t.has_tokens IS NULL THEN 0 ELSE t.billable_tokens END AS billable_tokens
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
    sqlite: selectDailyCosts(costsInSqlite),
    postgres: selectDailyCosts(costsInPostgres),
  },
} satisfies View;

const selectTeamCosts = (dialect: CostDialect) => `
WITH ${teamDays(dialect)}
SELECT org_id, month, ${dialect.cast('team', 'TEXT')} AS team, ${dialect.cast('currency', 'TEXT')} AS currency,
  ${dialect.cast('SUM(billable_tokens)', 'REAL')} AS billable_tokens,
  ${dialect.cast('CASE WHEN MAX(MAX(lacks_price)) OVER (PARTITION BY org_id, month, team) = 0 THEN SUM(cost) END', 'REAL')} AS cost
FROM team_costs
GROUP BY org_id, month, team, currency
`;

export const costMonthlyByTeam = {
  name: 'cost_monthly_by_team',
  doc:
    'Credits and cost of each team by month, from the rows of its users: one row per month, team and currency. The teams ' +
    'and unassigned add up to the organization. A month of which people have expired has no row. Teams are those of user_teams, which may lag behind until the next run.',
  columns: {
    ...orgColumn,
    month: key('month, YYYY-MM'),
    team: key('team of the users on each day; unassigned without one'),
    currency: label(
      'ISO 4217 code. Days without a price count under the only currency of the month; NULL if there is none or several',
    ),
    billable_tokens: metric('credits consumed'),
    cost: metric('cost in this currency; NULL if the team has credits on a day of the month without a price'),
  },
  select: {
    sqlite: selectTeamCosts(costsInSqlite),
    postgres: selectTeamCosts(costsInPostgres),
  },
} satisfies View;

/** The sum over the settled days: 0 for a team without rows on them. */
const settled = (column: string) =>
  `CASE WHEN SUM(d.is_settled) = 0 THEN 0 ELSE SUM(CASE WHEN d.is_settled = 1 THEN t.${column} END) END`;

const forecast = (soFar: string) => forecastOf({ soFar, days: 'weekdays_settled', of: 'weekdays' });

/** Selects the rows of `month_forecast`. */
export const selectForecasts = (dialect: CostDialect) => `
WITH ${teamDays(dialect)},
working_days AS (
  SELECT m.org_id, m.month, SUM(${workingDay('d', 'm.org_id')}) AS weekdays
  FROM months m
  JOIN dates d ON d.month = m.month
  GROUP BY m.org_id, m.month
),
team_months AS (
  SELECT t.org_id, t.month, t.team, t.currency, m.settled_days, m.weekdays_settled, c.weekdays, p.only_currency,
    SUM(t.billable_tokens) AS tokens_so_far, ${settled('billable_tokens')} AS tokens_settled,
    SUM(t.cost) AS cost_so_far, ${settled('cost')} AS cost_settled,
    MAX(MAX(t.lacks_price)) OVER (PARTITION BY t.org_id, t.month, t.team) AS lacks_price
  FROM team_costs t
  JOIN unit_days d ON d.org_id = t.org_id AND d.date = t.date
  JOIN months m ON m.org_id = t.org_id AND m.month = t.month
  JOIN working_days c ON c.org_id = t.org_id AND c.month = t.month
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
    'the settled days so far, divided by the number of their working days (Mondays to Fridays that no event closes for all), times those of the month. ' +
    'Teams are those of user_teams, which may lag behind until the next run; daywalk budget check does not.',
  columns: {
    ...orgColumn,
    month: key('month, YYYY-MM; the first one begins on 2026-01-14'),
    team: key('team of the users on each day; unassigned without one'),
    currency: label('ISO 4217 code, as in cost_monthly_by_team'),
    settled_days: count('number of settled days of the month'),
    weekdays_settled: count('number of settled working days'),
    weekdays: count('number of working days of the month: Mondays to Fridays that no event closes for all'),
    tokens_so_far: metric('credits of all stored days'),
    tokens_forecast: metric(
      'credits expected for the whole month; NULL before the first settled working day',
    ),
    cost_so_far: metric('cost of all stored days; NULL if the team has credits on a day without a price'),
    cost_settled: metric('cost of the settled days, from which the forecast is made'),
    cost_forecast: metric(
      'cost expected for the whole month; NULL before the first settled working day, without a price, or if the prices of ' +
        'the month have several currencies',
    ),
  },
  select: {
    sqlite: selectForecasts(costsInSqlite),
    postgres: selectForecasts(costsInPostgres),
  },
} satisfies View;

const selectUsage = ({ cast }: CostDialect) => `
SELECT u.org_id, u.date, u.user_id, u.model_id, u.model_tier,
  ${cast("COALESCE(t.team, 'unassigned')", 'TEXT')} AS team, t.cost_center,
  ${CREDIT_COLUMNS.map((name) => `u.${name}`).join(', ')},
  p.currency, p.price_per_million,
  ${cast('CASE WHEN u.billable_tokens <> 0 AND p.currency IS NULL THEN NULL ELSE u.billable_tokens * COALESCE(p.price_per_million, 0) / 1000000 END', 'REAL')} AS cost
FROM tokens_daily_by_user_model u
${TEAM_OF_DAY}
LEFT JOIN prices p ON p.org_id = u.org_id AND ${pricedOn('u.date')}
`;

const { user_id, model_id, model_tier } = tokensDailyByUserModel.columns;

export const usageByUserModel = {
  name: 'usage_by_user_model',
  doc:
    'Credits by user and model with the team and the price of the day, and what they cost: one row per row of tokens_daily_by_user_model. ' +
    'The total of a day in tokens_daily may be another. Teams are those of user_teams, which may lag behind until the next run.',
  columns: {
    ...orgColumn,
    date: day('UTC day'),
    user_id,
    model_id,
    model_tier,
    team: key('team of the user on the day; unassigned without one'),
    cost_center: label('cost center of the user on the day; NULL without one'),
    ...credits,
    currency: label('ISO 4217 code of the price of the day; NULL without a price'),
    price_per_million: ratio('price of a million credits on the day; NULL without a price'),
    cost: metric('cost in this currency; NULL if there are credits and no price'),
  },
  select: { sqlite: selectUsage(costsInSqlite), postgres: selectUsage(costsInPostgres) },
} satisfies View;
