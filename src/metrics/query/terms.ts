import type { Term } from '../../../schema/metrics.ts';
import { type SQL, sql } from '../../../schema/query.ts';

/** The rows that a term is computed over: those of a source, or rollups with the same columns. */
export type RowKind = 'daily' | 'rollup';

/** The value of a term over a group of the rows `r`, on the days `d`. */
export function termSql(term: Term, rows: RowKind): SQL {
  if (term.kind === 'users') return sql.raw('COUNT(DISTINCT r.user_id)');
  if (term.kind === 'cost') return COST;
  const { columns, where } = term;
  const sums = columns.map((column) => {
    if (where === undefined) return sql.raw(`SUM(r.${column})`);
    if (rows === 'rollup') return sql.raw(`SUM(COALESCE(r.${where.rollupColumn}, 0))`);
    return sql`SUM(CASE WHEN r.${sql.raw(where.column)} = ${where.equals} THEN r.${sql.raw(column)} ELSE 0 END)`;
  });
  return sums.length === 1 ? sql.join(sums) : sql`(${sql.join(sums, sql.raw(' + '))})`;
}

/** The quotient of two terms. */
export function ratioSql(numerator: Term, denominator: Term, rows: RowKind): SQL {
  return sql`${termSql(numerator, rows)} / NULLIF(${termSql(denominator, rows)}, 0)`;
}

/** The columns of rows that a term reads. */
export function columnsOfTerm(term: Term, rows: RowKind): readonly string[] {
  if (term.kind === 'users') return [];
  if (term.kind === 'cost') return ['billable_tokens'];
  const { columns, where } = term;
  if (where === undefined) return columns;
  return rows === 'rollup' ? [where.rollupColumn] : [where.column, ...columns];
}

// Without a price a row with tokens has no cost, and then the group has none. Rows without tokens cost nothing.
const COST = sql.raw(`CASE
      WHEN COUNT(CASE WHEN r.billable_tokens <> 0 AND d.price_per_million IS NULL THEN 1 END) = 0
      THEN SUM(r.billable_tokens * COALESCE(d.price_per_million, 0)) / 1000000
    END`);
