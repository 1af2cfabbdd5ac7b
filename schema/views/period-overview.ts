import { FIRST_DAY } from '../../src/core/day.ts';
import { DAILY_STREAMS } from '../../src/core/stream.ts';
import { type Columns, count, flag, integer, type metric } from '../define.ts';
import type { Cast } from './cast.ts';
import { dailyOverview } from './daily-overview.ts';
import type { DayDialect } from './day-dialect.ts';

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
export const periodColumns = {
  active_users: integer(
    'number of distinct users with a row in the period; NULL if no day of users is stored',
  ),
  new_users: integer('number of users whose first row ever is in the period'),
  ...sums,
  days_expected: count('number of days of the period from 2026-01-14 on, past or not'),
  days_held: count(
    'number of days that are stored in all five streams; fewer than expected mean a partial period',
  ),
  is_settled: flag('1 once every day of the period is settled in all five streams'),
} satisfies Columns;

/** The periods of an overview. `first` and `last` are expressions over `n.period`. */
export interface Period {
  readonly of: (day: string) => string;
  readonly first: string;
  readonly last: string;
}

/**
 * Selects the sums and days of each period that was ever pulled, as `n`: for `WITH`. The published numbers are added up by
 * day; counts of distinct users cannot be, so each view takes them from a rollup.
 */
export function periodNumbers({ ledgerDay }: DayDialect, { of }: Period): string {
  const streams = DAILY_STREAMS.length;
  const totals = Object.entries(SUMS).flatMap(([alias, columns]) =>
    columns.map((name) => `SUM(${alias}.${name}) AS ${name}`),
  );
  return `days AS (
  SELECT org_id, ${ledgerDay('date')} AS date,
    CASE WHEN SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) = ${streams} THEN 1 ELSE 0 END AS is_held,
    MAX(CASE WHEN stream = 'users' AND (state IN ('loaded', 'empty', 'quarantined', 'doubted') OR rows > 0) THEN 1 ELSE 0 END) AS has_users,
    CASE WHEN COUNT(settled_at) = ${streams} THEN 1 ELSE 0 END AS is_settled
  FROM export_units WHERE date <> '' GROUP BY org_id, date
), numbers AS (
  SELECT d.org_id, ${of('d.date')} AS period, SUM(d.is_held) AS days_held, SUM(d.is_settled) AS days_settled,
    MAX(d.has_users) AS has_users,
    ${totals.join(',\n    ')}
  FROM days d
  LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
  LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
  LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
  LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date
  GROUP BY d.org_id, ${of('d.date')}
)`;
}

/** Selects {@link periodColumns}. `active` and `fresh` are expressions for the numbers of users; NULL means none. */
export function periodSelect(
  cast: Cast,
  days: DayDialect,
  { period, active, fresh, flags }: PeriodParts,
): string {
  const start = days.later(period.first, days.literal(FIRST_DAY));
  const expected = `${days.daysBetween(start, period.last)} + 1`;
  const held = (expression: string) => `CASE WHEN n.has_users = 1 THEN COALESCE(${expression}, 0) END`;
  return `${cast(held(active), 'INTEGER')} AS active_users, ${cast(held(fresh), 'INTEGER')} AS new_users,
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
