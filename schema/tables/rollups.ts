import {
  type Columns,
  count,
  day,
  integer,
  key,
  label,
  metric,
  orgColumn,
  table,
  text,
  yesNo,
} from '../define.ts';
import { credits, tokensDailyByUserModel, userDaily, userDailyLanguages } from './daily.ts';

/** The columns of `user_daily` that rollups add up. */
export const ROLLUP_SUMS = [
  'billable_tokens',
  'tool_calls',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
] as const satisfies readonly (keyof typeof userDaily.columns)[];

type SumName = (typeof ROLLUP_SUMS)[number];

const sums = Object.fromEntries(ROLLUP_SUMS.map((name) => [name, userDaily.columns[name]])) as {
  [Name in SumName]: (typeof userDaily.columns)[Name];
};

const thinking = {
  thinking_tokens: metric('credits of the days on which the primary model had the tier thinking'),
};

const userDays = {
  user_email: label('email address of the latest day that has one'),
  first_active_on: day('first day with a row'),
  last_active_on: day('last day with a row'),
  active_days: count('number of days with a row'),
} satisfies Columns;

const user = { user_id: key('ID of the user') };

export const dates = table({
  name: 'dates',
  doc: 'The calendar: one row per day from 2026-01-14 to two years ahead.',
  role: 'rollup',
  by: { date: day('day') },
  values: {
    iso_year: count('year of the ISO week; differs from the calendar year around New Year'),
    iso_week: count('number of the ISO week, 1 to 53'),
    week_start: day('Monday of the week'),
    month: text('month, YYYY-MM'),
    quarter: text('quarter, YYYY-Qn'),
    weekday: count('1 for Monday to 7 for Sunday'),
    is_weekend: yesNo('1 on Saturday and Sunday, otherwise 0'),
  },
});

export const users = table({
  name: 'users',
  doc: 'Each user with the latest email address, the team of today, and totals over all days: one row per user. Today is the newest loaded day.',
  role: 'rollup',
  by: { ...orgColumn, ...user },
  values: {
    ...userDays,
    billable_tokens: sums.billable_tokens,
    tool_calls: sums.tool_calls,
    sessions: sums.sessions,
    messages: sums.messages,
    user_messages: sums.user_messages,
    files_created: sums.files_created,
    files_edited: sums.files_edited,
    git_commits: sums.git_commits,
    git_prs_created: sums.git_prs_created,
    team: label('team of today; NULL without one'),
    active_days_30: count('number of days with a row in the 30 days that end today'),
  },
});

export const userWeekly = table({
  name: 'user_weekly',
  doc: 'Totals of each user by ISO week: one row per user and week with activity.',
  role: 'rollup',
  by: { ...orgColumn, week_start: day('Monday of the week'), ...user },
  values: { ...userDays, ...sums, ...thinking },
});

export const userMonthly = table({
  name: 'user_monthly',
  doc: 'Totals of each user by month: one row per user and month with activity.',
  role: 'rollup',
  by: { ...orgColumn, month: key('month, YYYY-MM'), ...user },
  values: { ...userDays, ...sums, ...thinking },
});

export const userMonthlyLanguages = table({
  name: 'user_monthly_languages',
  doc: 'Languages in which each user worked by month, from `user_daily_languages`: one row per user, month and language.',
  role: 'rollup',
  by: {
    ...orgColumn,
    month: key('month, YYYY-MM'),
    ...user,
    language: userDailyLanguages.columns.language,
  },
  values: {
    first_active_on: day('first day with the language'),
    last_active_on: day('last day with the language'),
    active_days: count('number of days with the language'),
  },
});

export const orgMonthly = table({
  name: 'org_monthly',
  doc: 'Totals of the organization by month, from the rows of its users: one row per month with activity.',
  role: 'rollup',
  by: { ...orgColumn, month: key('month, YYYY-MM') },
  values: {
    active_users: integer('number of distinct users with a row in the month'),
    new_users: integer('number of users whose first row ever is in the month'),
    user_days: integer('number of rows in user_daily'),
    ...sums,
    ...thinking,
  },
});

const team = { team: key('team of the users on the day; unassigned without one') };
const modelValues = tokensDailyByUserModel.columns;

export const teamDaily = table({
  name: 'team_daily',
  doc: 'Totals of each team by day, from the rows of its users: one row per day and team with activity.',
  role: 'rollup',
  by: { ...orgColumn, date: day('UTC day'), ...team },
  values: {
    active_users: integer('number of users with a row on the day, which must not be summed over days'),
    ...sums,
    thinking_tokens: metric('credits of the users whose primary model of the day had the tier thinking'),
  },
});

export const teamModelDaily = table({
  name: 'team_model_daily',
  doc: 'Credits of each team by model and day, from `tokens_daily_by_user_model`: one row per day, team and model with activity.',
  role: 'rollup',
  by: { ...orgColumn, date: day('UTC day'), ...team, model_id: modelValues.model_id },
  values: {
    active_users: integer('number of users with a row on the day, which must not be summed'),
    model_tier: modelValues.model_tier,
    ...credits,
  },
});

export const userTeams = table({
  name: 'user_teams',
  doc: 'Who each user is according to `people`, by period. A user has at most one person on a day; days without one have no row.',
  role: 'rollup',
  by: { ...orgColumn, ...user, valid_from: day('first day of the period') },
  values: {
    valid_to: day('last day of the period; 9999-12-31 if it has no end'),
    person: text('the person in `people`'),
    team: label('team; NULL if none was given'),
    department: label('department'),
    cost_center: label('cost center'),
  },
});

export const userEmails = table({
  name: 'user_emails',
  doc: 'The email addresses of each user, by month: one row per user, month and address.',
  role: 'rollup',
  by: {
    ...orgColumn,
    month: key('month, YYYY-MM'),
    ...user,
    user_email: key('email address, as DAYWALK_EMAILS allows'),
  },
  values: { last_seen_on: day('last day of the month with this address') },
});

export const rollupMarks = table({
  name: 'rollup_marks',
  doc: 'The units that the rollups were computed from. A unit whose digest differs from the ledger has stale rollups, which the next run recomputes.',
  role: 'rollup',
  by: {
    ...orgColumn,
    rollup: key('weekly, monthly, users, teams or models'),
    date: key("UTC day of the unit of users, for models of the unit of tokens; '' for the people"),
  },
  values: {
    content_sha256: text('SHA-256 of the rows of the unit, as in the ledger; of the people for the others'),
  },
});
