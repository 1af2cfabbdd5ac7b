import type { Dimension } from '../../../schema/metrics.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { bucketsOf, daysOf } from './buckets.ts';
import type { Facts, ValueColumn } from './facts.ts';
import { factsOf, termsOf } from './measures.ts';
import { inOneCurrency } from './one-currency.ts';
import { columnName, type Plan } from './plan.ts';
import { selectSql, withSql } from './select.ts';

/**
 * The query for a metric: one row for each bucket and group, with the dimensions in the order of the question, sorted by
 * them, and `value`, or a column for each metric of a question about several.
 */
export function queryOf(plan: Plan): SQL {
  const { grain, by } = plan;
  const withPrice = termsOf(plan).some(({ kind }) => kind === 'cost');
  const facts = {
    ...factsOf(plan),
    ...(withPrice && plan.checksCurrency && { onlyIf: inOneCurrency(plan) }),
  };
  const days = grain === undefined && !withPrice ? [] : daysOf(plan, { withPrice });
  const main = selectSql({
    columns: [
      ...by.map((dimension) => dimensionColumn(plan, dimension)),
      ...facts.values.map((value) => sql`${finalValue(facts, value)} AS ${sql.raw(value.column)}`),
    ],
    from: [
      sql`buckets b`,
      grain === undefined ? sql`CROSS JOIN facts f` : sql.raw(`LEFT JOIN facts f ON f.${grain} = b.${grain}`),
    ],
    orderBy: by.map((dimension) => orderOf(plan, dimension)),
  });
  return withSql([...plan.teams, ...days, bucketsOf(plan), ...facts.named], main);
}

function dimensionColumn({ grain }: Plan, dimension: Dimension): SQL {
  if (dimension === grain) return sql`b.${columnName(dimension)}`;
  return dimension === 'user' ? sql`f.user_id AS "user"` : sql`f.${columnName(dimension)}`;
}

function orderOf({ grain, phrases }: Plan, dimension: Dimension): SQL {
  if (dimension === grain) return sql`b.${columnName(dimension)}`;
  return sql`${phrases.sortable(sql`f.${columnName(dimension)}`)} NULLS LAST`;
}

function finalValue({ isByDay, onlyIf }: Facts, { column, nothing }: ValueColumn): SQL {
  const value = sql.raw(`f.${column}`);
  const cases = [
    ...(isByDay ? [sql`WHEN b.stored_days = 0 THEN NULL`] : []),
    ...(onlyIf === undefined ? [] : [sql`WHEN NOT ${onlyIf} THEN NULL`]),
    ...(nothing === 'zero' ? [sql`WHEN COALESCE(f.row_count, 0) = 0 THEN 0`] : []),
  ];
  if (cases.length === 0) return value;
  return sql`CASE ${sql.join([...cases, sql`ELSE ${value}`], sql.raw('\n    '))}\n  END`;
}
