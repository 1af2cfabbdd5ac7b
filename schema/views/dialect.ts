import { DAILY_STREAMS } from '../../src/core/stream.ts';
/** Gives an expression of a view its type, in the dialect of a database. */
export type Cast = (expression: string, type: 'INTEGER' | 'REAL' | 'TEXT') => string;

/** In SQLite an expression has no type, and tools that ask for the type treat the column as text. */
export const castInSqlite: Cast = (expression, type) => `CAST(${expression} AS ${type})`;

/** In PostgreSQL the expressions of the views have the types of their columns. */
export const plain: Cast = (expression) => expression;

/** Expressions over days, in the dialect of a database. */
export interface DayDialect {
  /** A day of the ledger, which stores days as text in both databases, because readiness reports have none. */
  ledgerDay(expression: string): string;
  /** The number of days from one day to another. */
  daysBetween(earlier: string, later: string): string;
  /** The Monday of the week of a day. */
  weekOf(day: string): string;
  /** The last day of the week that begins on a Monday. */
  endOfWeek(monday: string): string;
  /** The month of a day, YYYY-MM. */
  monthOf(day: string): string;
  /** The first day of a month. */
  startOfMonth(month: string): string;
  /** The last day of a month. */
  endOfMonth(month: string): string;
  /** The earlier and the later of two days. */
  earlier(one: string, other: string): string;
  later(one: string, other: string): string;
  /** Text that is compared by its bytes, as keys are. */
  asKey(text: string): string;
  /** A day as a literal. */
  literal(day: string): string;
}

export const daysInSqlite: DayDialect = {
  ledgerDay: (expression) => expression,
  daysBetween: (earlier, later) => `CAST(julianday(${later}) - julianday(${earlier}) AS INTEGER)`,
  weekOf: (day) => `date(${day}, 'weekday 0', '-6 days')`,
  endOfWeek: (monday) => `date(${monday}, '+6 days')`,
  monthOf: (day) => `substr(${day}, 1, 7)`,
  startOfMonth: (month) => `${month} || '-01'`,
  endOfMonth: (month) => `date(${month} || '-01', '+1 month', '-1 day')`,
  earlier: (one, other) => `MIN(${one}, ${other})`,
  later: (one, other) => `MAX(${one}, ${other})`,
  asKey: (text) => text,
  literal: (day) => `'${day}'`,
};

export const daysInPostgres: DayDialect = {
  ledgerDay: (expression) => `CAST(${expression} AS date)`,
  daysBetween: (earlier, later) => `CAST(${later} - ${earlier} AS bigint)`,
  weekOf: (day) => `CAST(date_trunc('week', CAST(${day} AS timestamp)) AS date)`,
  endOfWeek: (monday) => `${monday} + 6`,
  monthOf: (day) => `to_char(${day}, 'YYYY-MM')`,
  startOfMonth: (month) => `CAST(${month} || '-01' AS date)`,
  endOfMonth: (month) => `CAST(CAST(${month} || '-01' AS date) + INTERVAL '1 month' AS date) - 1`,
  earlier: (one, other) => `LEAST(${one}, ${other})`,
  later: (one, other) => `GREATEST(${one}, ${other})`,
  asKey: (text) => `${text} COLLATE "C"`,
  literal: (day) => `DATE '${day}'`,
};

/** Selects the day that counts as today, by organization: the newest day of users with rows, not the clock. */
export function todaySelect({ ledgerDay }: DayDialect): string {
  return `SELECT org_id, ${ledgerDay('MAX(date)')} AS today
  FROM export_units WHERE stream = 'users' AND rows > 0 GROUP BY org_id`;
}

/** True if a list between commas has a stream. LIKE does not see capitals in SQLite, and does in PostgreSQL. */
export const holds = (list: string, stream: string) =>
  `replace(${list}, ',' || ${stream} || ',', '') <> ${list}`;

const EXPECTED = "',' || k.streams || ','";
/** True for a unit of the ledger under a contract `k`, or without one, if its stream is expected. */
export const isExpectedStream = `(k.streams IS NULL OR ${holds(EXPECTED, 'stream')})`;
/** How many daily streams a contract `k` expects. */
export const expectedStreams = `CASE WHEN k.streams IS NULL THEN ${DAILY_STREAMS.length} ELSE
      ${DAILY_STREAMS.map((stream) => `CASE WHEN ${holds(EXPECTED, `'${stream}'`)} THEN 1 ELSE 0 END`).join(' + ')} END`;
