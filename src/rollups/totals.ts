import type { AnyTable } from '../../schema/define.ts';
import { type Dialect, listOf, type SQL, sql } from '../../schema/query.ts';
import { columnsOf } from '../../schema/row.ts';
import { CREDIT_COLUMNS, ROLLUP_SUMS, tables } from '../../schema/tables.ts';
import { shiftDay, type UtcDay } from '../core/day.ts';
import type { Bucket } from './calendar.ts';
import { UNASSIGNED } from './resolve-people.ts';

/** `active_days_30` covers this many days up to today. */
const RECENT_DAYS = 30;

/** The columns that `users` adds up over the months. */
const USER_SUMS = ROLLUP_SUMS.filter((name) => name in tables.users.columns);

/** The credits of days on which the primary model of the user thinks. */
const THINKING = sql`SUM(CASE WHEN primary_model_tier = 'thinking' THEN billable_tokens ELSE 0 END) AS thinking_tokens`;

// The queries whose rows the rollups hold. A refresh stores these rows, and `verify` compares them with the stored ones.

/** The totals of each user in a bucket: rows of `user_weekly` or `user_monthly`, computed from `user_daily`. */
function userTotals(dialect: Dialect, orgId: string, bucket: Bucket): SQL {
  const name =
    bucket.rollup === 'weekly'
      ? sql`${dayValue(dialect, bucket.firstDay)} AS week_start`
      : sql`CAST(${bucket.name} AS text) AS month`;
  const day = dialect === 'sqlite' ? sql`date` : sql`to_char(date, 'YYYY-MM-DD')`;
  return sql`
    SELECT org_id, ${name}, user_id, ${emailOf(dialect, day, 'YYYY-MM-DD')} AS user_email,
      MIN(date) AS first_active_on, MAX(date) AS last_active_on, COUNT(*) AS active_days, ${sumsOf(ROLLUP_SUMS)},
      ${THINKING}
    FROM user_daily
    WHERE org_id = ${orgId} AND date BETWEEN ${bucket.firstDay} AND ${bucket.lastDay}
    GROUP BY org_id, user_id`;
}

/** The tables that hold a bucket, and the query of its rows in each. */
export function tablesOfBucket(
  dialect: Dialect,
  orgId: string,
  bucket: Bucket,
): { readonly table: AnyTable; readonly rows: SQL }[] {
  switch (bucket.rollup) {
    case 'weekly':
      return [{ table: tables.userWeekly, rows: userTotals(dialect, orgId, bucket) }];
    case 'monthly':
      return [
        { table: tables.userMonthly, rows: userTotals(dialect, orgId, bucket) },
        { table: tables.userEmails, rows: monthEmails(orgId, bucket) },
        { table: tables.userMonthlyLanguages, rows: monthLanguages(orgId, bucket) },
      ];
    case 'teams':
      return [{ table: tables.teamDaily, rows: teamTotals(orgId, bucket) }];
    case 'models':
      return [{ table: tables.teamModelDaily, rows: teamTotals(orgId, bucket) }];
  }
}

/** The rows of `user_emails` of a month. */
function monthEmails(orgId: string, { name, firstDay, lastDay }: Bucket): SQL {
  return sql`
    SELECT org_id, CAST(${name} AS text) AS month, user_id, user_email, MAX(date) AS last_seen_on FROM user_daily
    WHERE org_id = ${orgId} AND date BETWEEN ${firstDay} AND ${lastDay} AND user_email IS NOT NULL
    GROUP BY org_id, user_id, user_email`;
}

const TEAM = sql.raw(`COALESCE(t.team, '${UNASSIGNED}')`);

/** The cast gives the team a type, without which SQLite would not find it by an index. The rows of `team_daily` or `team_model_daily` of some days, computed from the rows of users and `user_teams`. */
function teamTotals(orgId: string, { rollup, firstDay, lastDay }: Bucket): SQL {
  const isModels = rollup === 'models';
  const table = isModels ? tables.tokensDailyByUserModel : tables.userDaily;
  const model = isModels ? sql`r.model_id, MAX(r.model_tier) AS model_tier, ` : sql``;
  const sums = isModels ? sumsOf(CREDIT_COLUMNS) : listOf([sumsOf(ROLLUP_SUMS), THINKING]);
  return sql`
    SELECT r.org_id, r.date, CAST(${TEAM} AS text) AS team, ${model}COUNT(*) AS active_users, ${sums}
    FROM ${sql.identifier(table.name)} AS r
    LEFT JOIN user_teams AS t ON t.org_id = r.org_id AND t.user_id = r.user_id
      AND r.date BETWEEN t.valid_from AND t.valid_to
    WHERE r.org_id = ${orgId} AND r.date BETWEEN ${firstDay} AND ${lastDay}
    GROUP BY r.org_id, r.date, ${TEAM}${isModels ? sql`, r.model_id` : sql``}`;
}

/** The rows of `user_monthly_languages` of a month. */
function monthLanguages(orgId: string, { name, firstDay, lastDay }: Bucket): SQL {
  return sql`
    SELECT org_id, CAST(${name} AS text) AS month, user_id, language, MIN(date) AS first_active_on,
      MAX(date) AS last_active_on, COUNT(*) AS active_days
    FROM user_daily_languages
    WHERE org_id = ${orgId} AND date BETWEEN ${firstDay} AND ${lastDay}
    GROUP BY org_id, user_id, language`;
}

/** The rows of `org_monthly` from a month on, computed from `user_monthly`. */
export function organizationTotals(orgId: string, sinceMonth: string): SQL {
  return sql`
    SELECT own.org_id, own.month, COUNT(*) AS active_users,
      SUM(CASE WHEN first_month = own.month THEN 1 ELSE 0 END) AS new_users, SUM(active_days) AS user_days,
      ${sumsOf([...ROLLUP_SUMS, 'thinking_tokens'])}
    FROM (
      SELECT *, MIN(month) OVER (PARTITION BY user_id) AS first_month FROM user_monthly WHERE org_id = ${orgId}
    ) AS own
    WHERE own.month >= ${sinceMonth}
    GROUP BY own.org_id, own.month`;
}

/** The rows of `users`, computed from `user_monthly`, `user_teams` and the last days of `user_daily`. */
export function usersOfToday(dialect: Dialect, orgId: string, today: UtcDay): SQL {
  return sql`
    SELECT totals.org_id, totals.user_id, totals.user_email, first_active_on, last_active_on, active_days,
      ${namesOf(USER_SUMS)}, team, COALESCE(recent_days, 0) AS active_days_30
    FROM (
      SELECT org_id, user_id, ${emailOf(dialect, sql`month`, 'YYYY-MM')} AS user_email, MIN(first_active_on) AS first_active_on,
        MAX(last_active_on) AS last_active_on, SUM(active_days) AS active_days, ${sumsOf(USER_SUMS)}
      FROM user_monthly WHERE org_id = ${orgId} GROUP BY org_id, user_id
    ) AS totals
    LEFT JOIN (
      SELECT user_id, COUNT(*) AS recent_days FROM user_daily
      WHERE org_id = ${orgId} AND date BETWEEN ${shiftDay(today, 1 - RECENT_DAYS)} AND ${today}
      GROUP BY user_id
    ) AS recent ON recent.user_id = totals.user_id
    LEFT JOIN user_teams ON user_teams.org_id = totals.org_id AND user_teams.user_id = totals.user_id
      AND ${dayValue(dialect, today)} BETWEEN user_teams.valid_from AND user_teams.valid_to`;
}

/** Names of columns as a list. */
function namesOf(names: readonly string[]): SQL {
  return listOf(names.map((name) => sql.identifier(name)));
}

/** The columns of a table, in the order of its declaration. */
export function columnList(table: AnyTable): SQL {
  return namesOf(columnsOf(table));
}

/** The sums of columns under the same names. The sum over nothing but NULL is NULL. */
function sumsOf(names: readonly string[]): SQL {
  return listOf(names.map((name) => sql`SUM(${sql.identifier(name)}) AS ${sql.identifier(name)}`));
}

/** A day as a value of the column type `day`. */
function dayValue(dialect: Dialect, day: UtcDay): SQL {
  return dialect === 'sqlite' ? sql`${day}` : sql`CAST(${day} AS date)`;
}

/** The latest email address. One pass over the rows: the greatest text of time and email together holds it. */
function emailOf(dialect: Dialect, time: SQL, format: 'YYYY-MM' | 'YYYY-MM-DD'): SQL {
  const start = sql.raw(String(format.length + 1));
  return dialect === 'sqlite'
    ? sql`substr(MAX(${time} || user_email), ${start})`
    : sql`substr(MAX((${time} || user_email) COLLATE "C"), ${start}) COLLATE "default"`;
}
