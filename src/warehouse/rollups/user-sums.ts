import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import { columnsOf } from '../../../schema/row.ts';
import { ROLLUP_SUMS } from '../../../schema/tables/rollups.ts';
import { tables } from '../../../schema/tables.ts';
import type { UtcDay } from '../../core/day.ts';
import type { Bucket } from './buckets.ts';

/** The length of a day or month that stands before an email address, see {@link emailOf}. */
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const MONTH_LENGTH = 'YYYY-MM'.length;

/** The sums of a rollup from the columns of the same names. The sum over nothing but NULL is NULL. */
export const SUMS: SQL = sql.join(
  ROLLUP_SUMS.map((name) => sql`SUM(${sql.identifier(name)}) AS ${sql.identifier(name)}`),
  sql`, `,
);

/** The columns of a table, in the order of its declaration. */
export function columnList(table: Parameters<typeof columnsOf>[0]): SQL {
  return sql.join(
    columnsOf(table).map((name) => sql.identifier(name)),
    sql`, `,
  );
}

/** A day as a value of the column type `day`. */
export function dayValue(dialect: Dialect, day: UtcDay): SQL {
  return dialect === 'sqlite' ? sql`${day}` : sql`CAST(${day} AS date)`;
}

/**
 * The totals of each user in a bucket: the rows of `user_weekly` or `user_monthly`, computed from `user_daily`. Both
 * the refresh and `verify` use it.
 */
export function userTotals(dialect: Dialect, orgId: string, bucket: Bucket): SQL {
  const name =
    bucket.rollup === 'weekly'
      ? sql`${dayValue(dialect, bucket.firstDay)} AS week_start`
      : sql`CAST(${bucket.name} AS text) AS month`;
  return sql`
    SELECT org_id, ${name}, user_id, ${latestEmail(dialect)} AS user_email,
      MIN(date) AS first_active_on, MAX(date) AS last_active_on, COUNT(*) AS active_days, ${SUMS},
      SUM(CASE WHEN primary_model_tier = 'thinking' THEN billable_tokens ELSE 0 END) AS thinking_tokens
    FROM user_daily
    WHERE org_id = ${orgId} AND date BETWEEN ${bucket.firstDay} AND ${bucket.lastDay}
    GROUP BY org_id, user_id`;
}

/** The table of a bucket's rows. */
export function tableOf({ rollup }: Pick<Bucket, 'rollup'>) {
  return rollup === 'weekly' ? tables.userWeekly : tables.userMonthly;
}

/** The condition that selects the rows of a bucket in its table. */
export function isIn(bucket: Bucket): SQL {
  return bucket.rollup === 'weekly' ? sql`week_start = ${bucket.firstDay}` : sql`month = ${bucket.name}`;
}

/** The email address of the latest day that has one. */
function latestEmail(dialect: Dialect): SQL {
  return emailOf(dialect, dialect === 'sqlite' ? sql`date` : sql`to_char(date, 'YYYY-MM-DD')`, DAY_LENGTH);
}

/** The email address of the latest month that has one. */
export function latestMonthsEmail(dialect: Dialect): SQL {
  return emailOf(dialect, sql`month`, MONTH_LENGTH);
}

/** One pass over the rows: the greatest text of time and email together holds the latest email. */
function emailOf(dialect: Dialect, time: SQL, timeLength: number): SQL {
  const start = sql.raw(String(timeLength + 1));
  return dialect === 'sqlite'
    ? sql`substr(MAX(${time} || user_email), ${start})`
    : sql`substr(MAX((${time} || user_email) COLLATE "C"), ${start}) COLLATE "default"`;
}
