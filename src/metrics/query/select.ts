import { type SQL, sql } from '../../../schema/query.ts';

/** The clauses of a SELECT. Conditions are joined by AND. */
export interface Select {
  readonly columns: readonly SQL[];
  /** The first table, and one entry for each join. */
  readonly from: readonly SQL[];
  readonly where?: readonly SQL[];
  readonly groupBy?: readonly SQL[];
  readonly orderBy?: readonly SQL[];
}

/** A named subquery of a WITH clause. */
export interface NamedQuery {
  /** Its name, and its columns if the body does not name them. */
  readonly name: string;
  readonly body: SQL;
  /** Computed once, even if a join reads it row by row. @default as the database decides */
  readonly isMaterialized?: boolean;
}

/** Writes a SELECT with a line for each clause, indented, so that people can read it. */
export function selectSql(
  { columns, from, where = [], groupBy = [], orderBy = [] }: Select,
  indent = '',
): SQL {
  const line = sql.raw(`\n${indent}`);
  const deeper = sql.raw(`\n${indent}  `);
  const clauses = [
    sql`SELECT ${sql.join([...columns], sql`,${deeper}`)}`,
    sql`FROM ${sql.join([...from], line)}`,
    ...(where.length > 0 ? [sql`WHERE ${sql.join([...where], sql`${deeper}AND `)}`] : []),
    ...(groupBy.length > 0 ? [sql`GROUP BY ${sql.join([...groupBy], sql`, `)}`] : []),
    ...(orderBy.length > 0 ? [sql`ORDER BY ${sql.join([...orderBy], sql`, `)}`] : []),
  ];
  return sql`${sql.raw(indent)}${sql.join(clauses, line)}`;
}

/** Writes a query that uses named subqueries. */
export function withSql(named: readonly NamedQuery[], main: SQL): SQL {
  if (named.length === 0) return main;
  const parts = named.map(({ name, body, isMaterialized = false }) => {
    const head = sql.raw(`${name} AS ${isMaterialized ? 'MATERIALIZED ' : ''}(\n`);
    return sql`${head}${body}\n)`;
  });
  return sql`WITH RECURSIVE ${sql.join(parts, sql.raw(', '))}\n${main}`;
}
