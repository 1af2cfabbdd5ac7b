import { type SQL, sql } from '../../schema/query.ts';
import { FIRST_DAY } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { whyNotKept } from '../expected/index.ts';
import type { Warehouse } from '../port/index.ts';
import { planIn } from './answer-metric.ts';
import type { AskedPeriod } from './period.ts';
import { type NamedQuery, type Plan, selectSql, withSql } from './query/plan.ts';
import { rollupRows } from './query/rollup-rows.ts';
import { bucketsOf, dailyRows, daysOf, firstDaysOf } from './query/rows.ts';
import type { MetricAnswer } from './question.ts';

/** The metric that cohorts are counted with. */
const COHORT_METRIC = 'active_users';

/** People whose first activity ever was in one month, in this month or one after it. */
interface CohortRow {
  /** The month of their first activity, `YYYY-MM`. */
  readonly cohort: string;
  /** A month of the period that is not before it. */
  readonly month: string;
  /** How many of them were active in the month; null if none of its days is stored. */
  readonly value: number | null;
  /** How many they are. */
  readonly size: number;
}

/** The answer, as `daywalk metric --cohort --json` prints it. */
interface CohortAnswer extends Omit<MetricAnswer, 'rows'> {
  readonly cohort: 'first-month';
  /** By cohort, then by month. */
  readonly rows: readonly CohortRow[];
}

/**
 * Follows people from the month of their first activity: how many of them were active in it and in each month after. Months at the
 * ends of the period count only the days in it, and the cohorts are those that began in it. People for whom pseudonyms stand count, and nobody is
 * named. Do not call it inside a snapshot.
 * @throws {UsageError} for another metric, and where nothing is kept of single users, or people have expired: then the first
 * activity is not known.
 */
export function readCohorts(
  warehouse: Warehouse,
  { metric, orgId, from, until }: AskedPeriod & { readonly metric: string; readonly orgId: string },
): Promise<CohortAnswer> {
  if (metric !== COHORT_METRIC) {
    throw new UsageError(`${metric} cannot be followed by cohort`, { hint: `ask for ${COHORT_METRIC}` });
  }
  return warehouse.inSnapshot(async () => {
    const { plan, provenance } = await planIn(warehouse, { metric, orgId, by: ['month'], from, until });
    const { notKept, usersFrom, days, run_id } = provenance;
    // Whoever was active before would pass for new.
    const why = notKept ?? whyNotKept({ leftOut: [], usersFrom }, ['users'], FIRST_DAY);
    if (why !== null) {
      throw new UsageError(`the first activity of people is not known: ${why}`, {
        hint: `ask for ${COHORT_METRIC} by month`,
      });
    }
    const rows = await warehouse.select(cohortQuery(plan));
    return {
      ...{ metric, org_id: orgId, unit: plan.metric.unit, from: plan.from, until: plan.until },
      cohort: 'first-month',
      rows: rows.map(({ cohort, month, value, size }) => ({
        ...{ cohort: String(cohort), month: String(month) },
        ...{ value: value === null ? null : Number(value), size: Number(size) },
      })),
      ...{ days, run_id, warnings: [] },
    };
  });
}

function cohortQuery(plan: Plan): SQL {
  const { phrases, from, until } = plan;
  const rows = rollupRows(plan, []) ?? dailyRows(plan, []);
  const active: NamedQuery = {
    name: 'active',
    body: selectSql(
      {
        columns: [sql`DISTINCT ${rows.bucket ?? sql`d.month`} AS month`, sql`r.user_id`],
        from: rows.from,
        where: rows.where,
      },
      '  ',
    ),
  };
  const members: NamedQuery = {
    name: 'members',
    body: selectSql(
      {
        columns: [sql`user_id`, sql`${phrases.monthOf(sql`date`)} AS cohort`],
        from: [sql`first_days`],
        where: [sql`date BETWEEN ${phrases.day(from)} AND ${phrases.day(until)}`],
      },
      '  ',
    ),
  };
  const sizes: NamedQuery = {
    name: 'cohorts',
    body: selectSql(
      { columns: [sql`cohort`, sql`COUNT(*) AS size`], from: [sql`members`], groupBy: [sql`cohort`] },
      '  ',
    ),
  };
  const counts: NamedQuery = {
    name: 'counts',
    body: selectSql(
      {
        columns: [sql`m.cohort`, sql`a.month`, sql`COUNT(*) AS value`],
        from: [sql`active a`, sql`JOIN members m ON m.user_id = a.user_id`],
        groupBy: [sql`m.cohort`, sql`a.month`],
      },
      '  ',
    ),
  };
  const main = selectSql({
    columns: [
      sql`c.cohort`,
      sql`b.month`,
      sql`CASE WHEN b.stored_days = 0 THEN NULL ELSE COALESCE(n.value, 0) END AS value`,
      sql`c.size`,
    ],
    from: [
      sql`cohorts c`,
      sql`JOIN buckets b ON b.month >= c.cohort`,
      sql`LEFT JOIN counts n ON n.cohort = c.cohort AND n.month = b.month`,
    ],
    orderBy: [sql`c.cohort`, sql`b.month`],
  });
  return withSql(
    [
      ...daysOf(plan, { withPrice: false }),
      bucketsOf(plan),
      ...rows.named,
      active,
      firstDaysOf(plan),
      members,
      sizes,
      counts,
    ],
    main,
  );
}
