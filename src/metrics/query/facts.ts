import { type SQL, sql } from '../../../schema/query.ts';
import type { Plan } from './plan.ts';
import { groupsOfRows, type Rows } from './rows.ts';
import { type NamedQuery, selectSql } from './select.ts';

/** What a bucket has where nothing occurs although a day of it is stored. */
export type Nothing = 'zero' | 'null';

/** A column of values. */
export interface ValueColumn {
  readonly column: string;
  readonly nothing: Nothing;
}

/** The subqueries whose last, `facts`, has a row for each group: bucket, dimensions, `row_count` and the values. */
export interface Facts {
  readonly named: readonly NamedQuery[];
  readonly values: readonly ValueColumn[];
  /** False for readiness reports, which do not belong to days. */
  readonly isByDay: boolean;
  /** A condition without which every value is NULL. */
  readonly onlyIf?: SQL;
}

/** Facts that are computed from each group of rows. */
export function grouped(
  plan: Plan,
  rows: Rows,
  values: readonly (ValueColumn & { readonly value: SQL })[],
): Facts {
  const groups = groupsOfRows(plan, rows);
  const body = selectSql(
    {
      columns: [
        ...groups.map(({ expression, column }) => sql`${expression} AS ${column}`),
        sql`COUNT(*) AS row_count`,
        ...values.map(({ column, value }) => sql`${value} AS ${sql.raw(column)}`),
      ],
      from: rows.from,
      where: rows.where,
      groupBy: groups.map(({ expression }) => expression),
    },
    '  ',
  );
  return { named: [...rows.named, { name: 'facts', body }], values, isByDay: true };
}
