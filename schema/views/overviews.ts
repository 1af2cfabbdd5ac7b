import { FIRST_DAY } from '../../src/core/day.ts';
import {
  type Columns,
  count,
  day,
  flag,
  integer,
  key,
  metric,
  orgColumn,
  ratio,
  type View,
} from '../define.ts';
import { settledUnit, storedUnit } from '../query.ts';
import {
  type Cast,
  castInSqlite,
  type DayDialect,
  daysInPostgres,
  daysInSqlite,
  expectedStreams,
  isExpectedStream,
  plain,
  todaySelect,
} from './dialect.ts';

/** True for a day of the ledger that is settled, or stored, in all streams that a contract `k` expects. */
const inAllStreams = (condition: string) =>
  `SUM(CASE WHEN ${condition} AND ${isExpectedStream} THEN 1 ELSE 0 END) = ${expectedStreams}`;
const HAS_EXPIRED = "MAX(CASE WHEN state = 'expired' THEN 1 ELSE 0 END) AS has_expired";
const SETTLED = inAllStreams(settledUnit('u'));

const selectDays = (cast: Cast) => `
SELECT d.org_id, d.date,
  t.billable_tokens, t.input_tokens, t.output_tokens,
  a.daily_active_users, a.weekly_active_users, a.monthly_active_users,
  a.sessions, a.messages, a.user_messages,
  o.tool_calls, o.skills_invocations, o.slash_commands_invocations, o.hooks_invocations,
  p.files_created, p.files_edited, p.git_commits, p.git_prs_created,
  ${cast('CASE WHEN d.has_expired = 0 THEN (SELECT COUNT(*) FROM user_daily u WHERE u.org_id = d.org_id AND u.date = d.date) END', 'INTEGER')} AS users,
  ${cast('d.streams_held', 'INTEGER')} AS streams_held,
  ${cast('d.is_settled', 'INTEGER')} AS is_settled
FROM (
  SELECT u.org_id, date,
    SUM(CASE WHEN ${storedUnit('u')} THEN 1 ELSE 0 END) AS streams_held, ${HAS_EXPIRED},
    CASE WHEN ${SETTLED} THEN 1 ELSE 0 END AS is_settled
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
) d
LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date
`;

// The ledger stores days as text, because readiness reports have no day.
const postgres = selectDays(plain)
  .replace('SELECT u.org_id, date,', 'SELECT u.org_id, CAST(date AS date) AS date,')
  .replace('THEN 1 ELSE 0 END AS is_settled', 'THEN true ELSE false END AS is_settled');

export const dailyOverview = {
  name: 'daily_overview',
  doc: 'The main numbers of each day side by side: one row per organization and day that was ever pulled.',
  columns: {
    ...orgColumn,
    date: day('UTC day'),
    billable_tokens: metric('credits consumed'),
    input_tokens: metric('raw input tokens'),
    output_tokens: metric('output tokens'),
    daily_active_users: ratio('distinct users active on the day'),
    weekly_active_users: ratio('distinct users active in the 7 days that end on this day'),
    monthly_active_users: ratio('distinct users active in the 30 days that end on this day'),
    sessions: metric('sessions started'),
    messages: metric('messages from users and the assistant'),
    user_messages: metric('messages from users'),
    tool_calls: metric('tool calls'),
    skills_invocations: metric('skill invocations'),
    slash_commands_invocations: metric('slash command invocations'),
    hooks_invocations: metric('hook invocations'),
    files_created: metric('files created'),
    files_edited: metric('files edited'),
    git_commits: metric('git commits'),
    git_prs_created: metric('pull requests created'),
    users: integer('number of rows of the day in user_daily; NULL if they have expired'),
    streams_held: count(
      'number of daily streams in which the day is stored; fewer than 5 means a hole, or that people have expired',
    ),
    is_settled: flag('1 once all expected streams of the day are settled'),
  },
  select: { sqlite: selectDays(castInSqlite), postgres },
} satisfies View;

/** The numbers of `daily_overview` that may be summed, by the alias of their table. */
const SUMS = {
  t: ['billable_tokens', 'input_tokens', 'output_tokens'],
  a: ['sessions', 'messages', 'user_messages'],
  o: ['tool_calls', 'skills_invocations', 'slash_commands_invocations', 'hooks_invocations'],
  p: ['files_created', 'files_edited', 'git_commits', 'git_prs_created'],
} as const;

type SumName = (typeof SUMS)[keyof typeof SUMS][number];

const names = Object.values(SUMS).flat();

const sums = Object.fromEntries(names.map((name) => [name, dailyOverview.columns[name]])) as {
  [Name in SumName]: ReturnType<typeof metric>;
};

/** The columns of an overview after the period. */
const periodColumns = {
  active_users: integer(
    'number of distinct users with a row in the period; NULL if no day of users is stored, or if one has expired',
  ),
  new_users: integer(
    'number of users whose first row ever is in the period; NULL once any day of users has expired',
  ),
  ...sums,
  days_expected: count('number of days of the period from 2026-01-14 on, past or not'),
  days_held: count(
    'number of days that are stored in all expected streams; fewer than expected mean a partial period. Days whose people have expired count',
  ),
  is_settled: flag('1 once every day of the period is settled in all expected streams'),
} satisfies Columns;

/** The periods of an overview. `first` and `last` are expressions over `n.period`. */
interface Period {
  readonly of: (day: string) => string;
  readonly first: string;
  readonly last: string;
}

/**
 * Selects the sums and days of each period that was ever pulled, as `n`: for `WITH`. The published numbers are added up by
 * day; counts of distinct users cannot be, so each view takes them from a rollup.
 */
function periodNumbers({ ledgerDay }: DayDialect, { of }: Period): string {
  const totals = Object.entries(SUMS).flatMap(([alias, columns]) =>
    columns.map((name) => `SUM(${alias}.${name}) AS ${name}`),
  );
  return `days AS (
  SELECT u.org_id, ${ledgerDay('date')} AS date,
    CASE WHEN ${inAllStreams(`(u.state = 'expired' OR ${storedUnit('u')})`)} THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND ${storedUnit('u')} THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN ${SETTLED} THEN 1 ELSE 0 END AS is_settled, ${HAS_EXPIRED}
  FROM export_units u LEFT JOIN contracts k ON k.org_id = u.org_id
  WHERE date <> '' GROUP BY u.org_id, date, k.streams
), numbers AS (
  SELECT d.org_id, ${of('d.date')} AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
    MAX(d.has_users) AS has_users, MAX(d.has_expired) AS has_expired,
    ${totals.join(',\n    ')}
  FROM days d
  LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
  LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
  LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
  LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date
  GROUP BY d.org_id, ${of('d.date')}
)`;
}

/** Whoever was active on days that have expired would pass for new. */
const NONE_EXPIRED = `NOT EXISTS (
    SELECT 1 FROM export_units x WHERE x.org_id = n.org_id AND x.stream = 'users' AND x.state = 'expired')`;

/** Selects {@link periodColumns}. `active` and `fresh` are expressions for the numbers of users; NULL means none. */
function periodSelect(cast: Cast, days: DayDialect, { period, active, fresh, flags }: PeriodParts): string {
  const start = days.later(period.first, days.literal(FIRST_DAY));
  const expected = `${days.daysBetween(start, period.last)} + 1`;
  const held = (expression: string, condition: string) =>
    cast(`CASE WHEN n.has_users = 1 AND ${condition} THEN COALESCE(${expression}, 0) END`, 'INTEGER');
  return `${held(active, 'n.has_expired = 0')} AS active_users, ${held(fresh, NONE_EXPIRED)} AS new_users,
  ${names.map((name) => `${cast(`n.${name}`, 'REAL')} AS ${name}`).join(',\n  ')},
  ${cast(expected, 'INTEGER')} AS days_expected, ${cast('n.days_held', 'INTEGER')} AS days_held,
  ${cast(`CASE WHEN n.days_settled = ${expected} THEN ${flags[0]} ELSE ${flags[1]} END`, 'INTEGER')} AS is_settled`;
}

interface PeriodParts {
  readonly period: Period;
  readonly active: string;
  readonly fresh: string;
  /** How the database writes 1 and 0 of a flag. */
  readonly flags: readonly [yes: string, no: string];
}

const weekIn = (days: DayDialect): Period => ({
  of: days.weekOf,
  first: 'n.period',
  last: days.endOfWeek('n.period'),
});

const selectWeeks = (cast: Cast, days: DayDialect, flags: readonly [yes: string, no: string]) => `
WITH ${periodNumbers(days, weekIn(days))}, active AS (
  SELECT org_id, week_start, COUNT(*) AS users FROM user_weekly GROUP BY org_id, week_start
), fresh AS (
  SELECT org_id, ${days.weekOf('first_active_on')} AS week_start, COUNT(*) AS users
  FROM users GROUP BY org_id, ${days.weekOf('first_active_on')}
)
SELECT n.org_id, ${cast('n.period', 'TEXT')} AS week_start,
  ${periodSelect(cast, days, { period: weekIn(days), active: 'a.users', fresh: 'f.users', flags })}
FROM numbers n
LEFT JOIN active a ON a.org_id = n.org_id AND a.week_start = n.period
LEFT JOIN fresh f ON f.org_id = n.org_id AND f.week_start = n.period
`;

export const weeklyOverview = {
  name: 'weekly_overview',
  doc: 'The main numbers of each ISO week: one row per organization and week of which a day was ever pulled. Users are counted once per week, from rollups, which may lag behind the days until the next run.',
  columns: { ...orgColumn, week_start: day('Monday of the week'), ...periodColumns },
  select: {
    sqlite: selectWeeks(castInSqlite, daysInSqlite, ['1', '0']),
    postgres: selectWeeks(plain, daysInPostgres, ['true', 'false']),
  },
} satisfies View;

const monthIn = (days: DayDialect): Period => ({
  of: days.monthOf,
  first: days.startOfMonth('n.period'),
  last: days.endOfMonth('n.period'),
});

// People are counted on the last day of the month, or today in the current one. Who is in user_teams on a day is licensed
// on it.
const people = (days: DayDialect) => `
now AS (
  ${todaySelect(days)}
), ends AS (
  SELECT n.org_id, n.period AS month, ${days.earlier(days.endOfMonth('n.period'), 'now.today')} AS last_day
  FROM numbers n JOIN now ON now.org_id = n.org_id
), licensed AS (
  SELECT e.org_id, e.month, COUNT(*) AS people
  FROM ends e
  JOIN people p ON p.org_id = e.org_id AND p.valid_from <= e.last_day AND (p.valid_to IS NULL OR e.last_day <= p.valid_to)
  GROUP BY e.org_id, e.month
), busy AS (
  SELECT e.org_id, e.month, COUNT(DISTINCT t.person) AS people
  FROM ends e
  JOIN user_monthly m ON m.org_id = e.org_id AND m.month = e.month
  JOIN user_teams t ON t.org_id = m.org_id AND t.user_id = m.user_id AND e.last_day BETWEEN t.valid_from AND t.valid_to
  GROUP BY e.org_id, e.month
)`;

const hasPeople = 'EXISTS (SELECT 1 FROM people p WHERE p.org_id = n.org_id)';

const selectMonths = (cast: Cast, days: DayDialect, flags: readonly [yes: string, no: string]) => `
WITH ${periodNumbers(days, monthIn(days))},${people(days)}
SELECT n.org_id, ${cast('n.period', 'TEXT')} AS month,
  ${cast(`CASE WHEN ${hasPeople} THEN COALESCE(l.people, 0) END`, 'INTEGER')} AS licensed_users,
  ${cast(`CASE WHEN ${hasPeople} AND n.has_expired = 0 THEN COALESCE(l.people, 0) - COALESCE(b.people, 0) END`, 'INTEGER')} AS inactive_users,
  ${periodSelect(cast, days, { period: monthIn(days), active: 'o.active_users', fresh: 'o.new_users', flags })}
FROM numbers n
LEFT JOIN org_monthly o ON o.org_id = n.org_id AND o.month = ${days.asKey('n.period')}
LEFT JOIN licensed l ON l.org_id = n.org_id AND l.month = n.period
LEFT JOIN busy b ON b.org_id = n.org_id AND b.month = n.period
`;

export const monthlyOverview = {
  name: 'monthly_overview',
  doc: 'The main numbers of each month: one row per organization and month of which a day was ever pulled. Users are counted once per month, from rollups, which may lag behind the days until the next run.',
  columns: {
    ...orgColumn,
    month: key('month, YYYY-MM'),
    licensed_users: integer(
      'number of people in `people` on the last day of the month, or today in the current one; NULL while `people` is empty',
    ),
    inactive_users: integer(
      'number of licensed users without a row in the month; NULL while `people` is empty, or if a day has expired',
    ),
    ...periodColumns,
  },
  select: {
    sqlite: selectMonths(castInSqlite, daysInSqlite, ['1', '0']),
    postgres: selectMonths(plain, daysInPostgres, ['true', 'false']),
  },
} satisfies View;

const selectCohorts = (cast: Cast) => `
WITH whole AS (
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
SELECT s.org_id, ${cast('s.cohort', 'TEXT')} AS cohort, o.month,
  ${cast('COALESCE(a.people, 0)', 'INTEGER')} AS people, ${cast('s.size', 'INTEGER')} AS size
FROM sizes s
JOIN org_monthly o ON o.org_id = s.org_id AND o.month >= s.cohort
LEFT JOIN active a ON a.org_id = s.org_id AND a.cohort = s.cohort AND a.month = o.month
`;

export const cohortsMonthly = {
  name: 'cohorts_monthly',
  doc:
    'How many of the users who were active for the first time in a month were active in each month since: one row per month of the first row ' +
    'and month with activity from it on. It has no rows once any day of users has expired, because the first row of a user is not known then. Users come from rollups, which may lag behind until the next run.',
  columns: {
    ...orgColumn,
    cohort: key(
      'month of the first row of the users, YYYY-MM; that of 2026-01-14 holds all who were there before',
    ),
    month: key('month in which they were active, YYYY-MM'),
    people: count('number of these users with a row in the month'),
    size: count('number of users of the cohort; the same in each of its rows'),
  },
  select: {
    sqlite: selectCohorts(castInSqlite),
    postgres: selectCohorts(plain),
  },
} satisfies View;
