import type { AnyTable } from '../../../schema/define.ts';
import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import { columnsOf } from '../../../schema/row.ts';
import type { UtcDay } from '../../core/day.ts';

/** The length of a day or month that stands before an email address, see {@link emailOf}. */
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const MONTH_LENGTH = 'YYYY-MM'.length;

/** Names of columns as a list. */
export function namesOf(names: readonly string[]): SQL {
  return listOf(names.map((name) => sql.identifier(name)));
}

/** Parts of a query as a list. */
export function listOf(parts: readonly (SQL | ReturnType<typeof sql.identifier>)[]): SQL {
  return sql.join([...parts], sql`, `);
}

/** The columns of a table, in the order of its declaration. */
export function columnList(table: AnyTable): SQL {
  return namesOf(columnsOf(table));
}

/** The sums of columns under the same names. The sum over nothing but NULL is NULL. */
export function sumsOf(names: readonly string[]): SQL {
  return listOf(names.map((name) => sql`SUM(${sql.identifier(name)}) AS ${sql.identifier(name)}`));
}

/** A day as a value of the column type `day`. */
export function dayValue(dialect: Dialect, day: UtcDay): SQL {
  return dialect === 'sqlite' ? sql`${day}` : sql`CAST(${day} AS date)`;
}

/** The email address of the latest day that has one. */
export function latestDaysEmail(dialect: Dialect): SQL {
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
