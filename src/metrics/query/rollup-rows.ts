import { userRows } from '../../../schema/metrics/user-metrics.ts';
import type { Term } from '../../../schema/metrics.ts';
import { sql } from '../../../schema/query.ts';
import { daysBetween, monthOf, shiftDay, type UtcDay, weekdayOf } from '../../core/day.ts';
import type { MarkedRollup } from '../../warehouse/rollups/current.ts';
import { groupsOf, needsTeam, type Plan } from './plan.ts';
import { type Rows, userConditions } from './rows.ts';
import { type NamedQuery, selectSql } from './select.ts';
import { columnsOfTerm } from './terms.ts';

/** The whole weeks or months of a period, and the rollup that has their sums. */
interface Whole {
  readonly rollup: Extract<MarkedRollup, 'weekly' | 'monthly'>;
  readonly first: UtcDay;
  readonly last: UtcDay;
}

/**
 * The rows of the period with its whole weeks or months from a rollup, and its other days from `user_daily`. Undefined if
 * no current rollup can serve the question.
 */
export function rollupRows(plan: Plan, terms: readonly Term[]): Rows | undefined {
  const servesGroups = groupsOf(plan).every((dimension) => dimension === 'user') && !needsTeam(plan);
  const servesTerms = terms.every(({ kind }) => kind !== 'cost');
  const whole = wholeBuckets(plan);
  if (plan.source !== userRows || !servesGroups || !servesTerms || whole === undefined) return undefined;
  if (!plan.rollups.has(whole.rollup)) return undefined;
  return {
    kind: 'rollup',
    named: [activity(plan, terms, whole)],
    from: [sql`activity r`],
    where: [],
    bucket: plan.grain === undefined ? undefined : sql.raw(`r.${plan.grain}`),
  };
}

/** The whole weeks of a period cut by week, otherwise its whole months; undefined if it has none. */
export function wholeBuckets({
  grain,
  from,
  until,
}: Pick<Plan, 'grain' | 'from' | 'until'>): Whole | undefined {
  if (grain === 'date') return undefined;
  const start = grain === 'week' ? mondayOf : monthOf;
  const first = start(from) === from ? from : nextStart(start, from);
  const last = shiftDay(start(shiftDay(until, 1)), -1);
  if (daysBetween(first, last) < 0) return undefined;
  return { rollup: grain === 'week' ? 'weekly' : 'monthly', first, last };
}

/** The longest bucket has this many days. */
const BUCKET_DAYS_MAX = 31;

function nextStart(start: (day: UtcDay) => UtcDay, day: UtcDay): UtcDay {
  const later = shiftDay(start(day), start === mondayOf ? 7 : BUCKET_DAYS_MAX);
  return start(later);
}

function mondayOf(day: UtcDay): UtcDay {
  return shiftDay(day, 1 - weekdayOf(day));
}

function activity(plan: Plan, terms: readonly Term[], { rollup, first, last }: Whole): NamedQuery {
  const { orgId, from, until } = plan;
  const before = from < first ? [clipped(plan, terms, from, shiftDay(first, -1))] : [];
  const after = last < until ? [clipped(plan, terms, shiftDay(last, 1), until)] : [];
  const [key, table] = rollup === 'weekly' ? ['r.week_start', 'user_weekly'] : ['r.month', 'user_monthly'];
  const range =
    rollup === 'weekly'
      ? sql`r.week_start BETWEEN ${first} AND ${last}`
      : sql`r.month BETWEEN ${first.slice(0, 7)} AND ${last.slice(0, 7)}`;
  const bucket = plan.grain === undefined ? [] : [sql.raw(`${key} AS ${plan.grain}`)];
  const columns = [...new Set(terms.flatMap((term) => columnsOfTerm(term, 'rollup')))];
  const whole = selectSql(
    {
      columns: [...bucket, sql`r.user_id`, ...columns.map((column) => sql.raw(`r.${column}`))],
      from: [sql.raw(`${table} r`)],
      where: [sql`r.org_id = ${orgId}`, range, ...userConditions(plan)],
    },
    '  ',
  );
  return { name: 'activity', body: sql.join([whole, ...before, ...after], sql.raw('\n  UNION ALL\n')) };
}

/** The rows of the days of one bucket that the period covers in part, with the columns of the rollup. */
function clipped(plan: Plan, terms: readonly Term[], from: UtcDay, until: UtcDay) {
  const { phrases, grain, orgId } = plan;
  const bucket =
    grain === undefined
      ? []
      : [
          sql`${grain === 'week' ? phrases.day(mondayOf(from)) : sql`${from.slice(0, 7)}`} AS ${sql.raw(grain)}`,
        ];
  const columns = new Map(
    terms.flatMap((term) => {
      if (term.kind !== 'sum') return [];
      const { where } = term;
      if (where === undefined) return term.columns.map((column) => [column, sql.raw(`r.${column}`)] as const);
      const [column = ''] = term.columns;
      const value = sql`CASE WHEN r.${sql.raw(where.column)} = ${where.equals} THEN r.${sql.raw(column)} END`;
      return [[where.rollupColumn, sql`${value} AS ${sql.raw(where.rollupColumn)}`] as const];
    }),
  );
  return selectSql(
    {
      columns: [...bucket, sql`r.user_id`, ...columns.values()],
      from: [sql`user_daily r`],
      where: [sql`r.org_id = ${orgId}`, sql`r.date BETWEEN ${from} AND ${until}`, ...userConditions(plan)],
    },
    '  ',
  );
}
