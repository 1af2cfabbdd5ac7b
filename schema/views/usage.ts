import { FIRST_DAY } from '../../src/core/day.ts';
import {
  count,
  date,
  day,
  flag,
  integer,
  key,
  label,
  metric,
  moment,
  orgColumn,
  ratio,
  type View,
} from '../define.ts';
import { storedUnit } from '../query.ts';
import {
  type Cast,
  castInSqlite,
  type DayDialect,
  daysInPostgres,
  daysInSqlite,
  plain,
  todaySelect,
} from './dialect.ts';

const selectMix = (cast: Cast) => `
SELECT org_id, date, model_id, model_tier, billable_tokens,
  ${cast('billable_tokens * 1.0 / NULLIF(SUM(billable_tokens) OVER (PARTITION BY org_id, date), 0)', 'REAL')} AS share
FROM tokens_daily_by_model
`;

export const modelMix = {
  name: 'model_mix',
  doc: 'Credits of each model by day, and their share of the credits of all models on that day.',
  columns: {
    ...orgColumn,
    date: day('UTC day'),
    model_id: key('ID of the model'),
    model_tier: label('tier of the model'),
    billable_tokens: metric('credits consumed'),
    share: ratio("share of the day's credits, 0 to 1; NULL on a day without credits"),
  },
  select: { sqlite: selectMix(castInSqlite), postgres: selectMix(plain) },
} satisfies View;

// A user without a day of thinking has a share of 0, not an unknown one.
const THINKING = 'CASE WHEN SUM(m.billable_tokens) IS NOT NULL THEN COALESCE(SUM(m.thinking_tokens), 0) END';

const selectShares = (cast: Cast) => `
SELECT m.org_id, m.user_id, u.user_email, u.team,
  ${cast('SUM(m.billable_tokens)', 'REAL')} AS billable_tokens,
  ${cast(THINKING, 'REAL')} AS thinking_tokens,
  ${cast(`${THINKING} / NULLIF(SUM(m.billable_tokens), 0)`, 'REAL')} AS thinking_share
FROM user_monthly m
LEFT JOIN users u ON u.org_id = m.org_id AND u.user_id = m.user_id
GROUP BY m.org_id, m.user_id, u.user_email, u.team
`;

export const thinkingShareByUser = {
  name: 'thinking_share_by_user',
  doc: 'How much of the credits of each user went to days whose primary model was a thinking model, over all days: one row per user. It comes from rollups, which may lag behind the days until the next run.',
  columns: {
    ...orgColumn,
    user_id: key('ID of the user'),
    user_email: label('email address of the latest day that has one'),
    team: label('team of today; NULL without one'),
    billable_tokens: metric('credits consumed'),
    thinking_tokens: metric('credits of the days on which the primary model had the tier thinking'),
    thinking_share: ratio('thinking_tokens / billable_tokens, 0 to 1; NULL without credits'),
  },
  select: { sqlite: selectShares(castInSqlite), postgres: selectShares(plain) },
} satisfies View;

/** Someone without a row on this many days, of which today is the last, is inactive. */
const INACTIVE_DAYS = 30;

// Of the users of one person only the one who was active last counts. A user without a person counts alone.
const known = `
  SELECT u.org_id, u.user_id, u.user_email, u.last_active_on, n.today, t.person,
    ROW_NUMBER() OVER (
      PARTITION BY u.org_id, t.person, CASE WHEN t.person IS NULL THEN u.user_id END
      ORDER BY u.last_active_on DESC, u.user_id
    ) AS recency
  FROM users u
  JOIN now n ON n.org_id = u.org_id
  LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id AND n.today BETWEEN t.valid_from AND t.valid_to`;

// People and users are put together by grouping. With a join, PostgreSQL took seconds in the first run of benchmark 15.
const everyone = ({ asKey }: DayDialect) => `
  SELECT p.org_id, p.person, p.name, p.team, NULL AS user_id, NULL AS user_email, NULL AS last_active_on, n.today, 1 AS is_licensed
  FROM people p
  JOIN now n ON n.org_id = p.org_id AND p.valid_from <= n.today AND (p.valid_to IS NULL OR n.today <= p.valid_to)
  UNION ALL
  SELECT org_id, COALESCE(${asKey('person')}, user_id), NULL, NULL, user_id, user_email, last_active_on, today, 0
  FROM known
  WHERE recency = 1`;

const selectInactive = (cast: Cast, days: DayDialect, [yes, no]: readonly [yes: string, no: string]) => `
WITH now AS (
  ${todaySelect(days)}
), known AS (${known}
), everyone AS (${everyone(days)}
), grouped AS (
  SELECT org_id, person, MAX(name) AS name, MAX(team) AS team, MAX(user_id) AS user_id, MAX(user_email) AS user_email,
    MAX(last_active_on) AS last_active_on, today, MAX(is_licensed) AS is_licensed
  FROM everyone
  GROUP BY org_id, person, today
), idle AS (
  SELECT grouped.*, ${days.daysBetween('last_active_on', 'today')} AS days_inactive FROM grouped
)
SELECT org_id, ${cast('person', 'TEXT')} AS person, ${cast('name', 'TEXT')} AS name, ${cast('team', 'TEXT')} AS team,
  ${cast('user_id', 'TEXT')} AS user_id, ${cast('user_email', 'TEXT')} AS user_email,
  ${cast('last_active_on', 'TEXT')} AS last_active_on, ${cast('days_inactive', 'INTEGER')} AS days_inactive,
  ${cast(`CASE WHEN is_licensed = 1 THEN ${yes} ELSE ${no} END`, 'INTEGER')} AS is_licensed
FROM idle
WHERE days_inactive IS NULL OR days_inactive >= ${INACTIVE_DAYS}
`;

export const inactiveUsers = {
  name: 'inactive_users',
  doc:
    `Licensed people and known users without activity in the ${INACTIVE_DAYS} days that end today: one row per person of ` +
    '`people`, and one per user who is not in `people`. A person with several users is inactive only if all are. ' +
    'Today is the newest loaded day. Users and teams come from rollups, which may lag behind until the next run.',
  columns: {
    ...orgColumn,
    person: key('the person in `people`; the user ID of a user who is not in `people`'),
    name: label('name of the person; NULL unless DAYWALK_EMAILS is keep'),
    team: label('team of today; NULL without one'),
    user_id: label(
      'ID of the user; if the person has several, the one who was active last; NULL if none ever was',
    ),
    user_email: label('email address of that user'),
    last_active_on: date('last day with a row; NULL if there never was one'),
    days_inactive: integer('number of days since then; NULL if there never was a row'),
    is_licensed: flag('1 for the people of `people` today, 0 for other users'),
  },
  select: {
    sqlite: selectInactive(castInSqlite, daysInSqlite, ['1', '0']),
    postgres: selectInactive(plain, daysInPostgres, ['true', 'false']),
  },
} satisfies View;

// The stream with the sessions decides which day was exported last.
const EXPORTED = `u.stream = 'activity' AND ${storedUnit('u')}`;

const counts = (cast: Cast) => `
SELECT ${cast('o.org_id', 'TEXT')} AS org_id, ${cast('o.since', 'TEXT')} AS since,
  ${cast('COUNT(DISTINCT h.session_id)', 'INTEGER')} AS sessions,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS stops,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS subagent_stops,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS notifications,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS session_ends,
  ${cast('COUNT(h.event_id)', 'INTEGER')} AS events,
  ${cast('MAX(h.received_at)', 'TEXT')} AS last_event_at
FROM organizations o`;

const sqlite = `
WITH organizations AS (
  SELECT known.org_id, COALESCE(
    (SELECT date(MAX(u.date), '+1 day') FROM export_units u WHERE u.org_id = known.org_id AND ${EXPORTED}),
    '${FIRST_DAY}') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
)
${counts(castInSqlite)}
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= o.since
  AND h.received_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
GROUP BY o.org_id, o.since
`;

// A distributed PostgreSQL rejects a subquery per row of a UNION, so the last days are joined.
const postgres = `
WITH organizations AS (
  SELECT known.org_id, COALESCE(CAST(e.last_day AS date) + 1, DATE '${FIRST_DAY}') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
  LEFT JOIN (SELECT u.org_id, MAX(u.date) AS last_day FROM export_units u WHERE ${EXPORTED} GROUP BY u.org_id) e
    ON e.org_id = known.org_id
)
${counts(plain)}
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= (CAST(o.since AS timestamp) AT TIME ZONE 'UTC')
  AND h.received_at <= now()
GROUP BY o.org_id, o.since
`;

export const todaySoFar = {
  name: 'today_so_far',
  doc:
    'Counts of hook events since the last exported day: one row per organization. Analytics arrive a day late, hook ' +
    'events do not; they cover only clients with installed hooks. Events that the clock of a client dates after now count once their time has come.',
  columns: {
    org_id: key(`${orgColumn.org_id.doc}; '' for events of a warehouse that knows none or several`),
    since: day('the first UTC day that is not exported yet'),
    sessions: count('number of distinct sessions with an event'),
    stops: count('number of tasks that the agent finished'),
    subagent_stops: count('number of tasks that subagents finished'),
    notifications: count('how often the agent waited for attention'),
    session_ends: count('number of sessions that ended'),
    events: count('number of all hook events'),
    last_event_at: moment('when the latest event was received'),
  },
  select: { sqlite, postgres },
} satisfies View;
