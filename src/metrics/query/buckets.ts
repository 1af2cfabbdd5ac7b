import type { Grain } from '../../../schema/metrics.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { storedUnit } from '../stored-units.ts';
import type { Plan } from './plan.ts';
import { type NamedQuery, selectSql } from './select.ts';

/** The days of the period, each with its bucket, and with its price if `withPrice`. */
export function daysOf(plan: Plan, { withPrice }: { readonly withPrice: boolean }): NamedQuery[] {
  const { phrases, grain, orgId, from, until } = plan;
  const bucket = grain === undefined ? [] : bucketExpression(plan, grain);
  if (bucket.length === 0 && !withPrice) return [calendarOf(plan)];
  const prices = sql`LEFT JOIN prices p ON p.org_id = ${orgId}
    AND c.date >= p.valid_from AND (p.valid_to IS NULL OR c.date <= p.valid_to)`;
  const days = selectSql(
    {
      columns: [sql`c.date`, ...bucket, ...(withPrice ? [sql`p.price_per_million`] : [])],
      from: [sql`calendar c`, ...(withPrice ? [prices] : [])],
    },
    '  ',
  );
  return [
    { name: 'calendar (date)', body: phrases.calendar('calendar', from, until) },
    { name: 'days', body: days },
  ];
}

/** The days of the period alone. */
export function calendarOf({ phrases, from, until }: Plan): NamedQuery {
  return { name: 'days (date)', body: phrases.calendar('days', from, until) };
}

function bucketExpression({ phrases }: Plan, grain: Grain): SQL[] {
  const day = sql`c.date`;
  if (grain === 'week') return [sql`${phrases.weekOf(day)} AS week`];
  return grain === 'month' ? [sql`${phrases.monthOf(day)} AS month`] : [];
}

/** The buckets of the period, each with its last day and the number of its days that are stored. */
export function bucketsOf(plan: Plan): NamedQuery {
  const { phrases, grain, orgId, source, from, until } = plan;
  const unit = sql`e.org_id = ${orgId} AND e.stream = ${source.stream}`;
  const isStored = storedUnit('e');
  const body =
    grain === undefined
      ? selectSql(
          {
            columns: [sql`${phrases.day(until)} AS last_day`, sql`COUNT(*) AS stored_days`],
            from: [sql`export_units e`],
            where: [unit, sql`e.date BETWEEN ${from} AND ${until}`, isStored],
          },
          '  ',
        )
      : selectSql(
          {
            columns: [
              sql`d.${sql.raw(grain)}`,
              sql`MAX(d.date) AS last_day`,
              sql`COUNT(e.date) AS stored_days`,
            ],
            from: [
              sql`days d`,
              sql`LEFT JOIN export_units e ON ${unit}
    AND e.date = ${phrases.textOf(sql`d.date`)} AND ${isStored}`,
            ],
            groupBy: [sql`d.${sql.raw(grain)}`],
          },
          '  ',
        );
  return { name: 'buckets', body };
}
