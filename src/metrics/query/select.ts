import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';

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

/** What the databases write differently. The arguments are expressions. */
export interface Phrases {
  /** A day, where nothing else says that it is one. */
  day(day: UtcDay): SQL;
  /** The body of a named query `name (date)` for the days from `from` to `until`. */
  calendar(name: string, from: UtcDay, until: UtcDay): SQL;
  /** The Monday of the week of a day. */
  weekOf(day: SQL): SQL;
  /** The month of a day, YYYY-MM. */
  monthOf(day: SQL): SQL;
  /** A day as the ledger has it: as text. */
  textOf(day: SQL): SQL;
  /** The UTC day of an instant. */
  dayOf(instant: SQL): SQL;
  /** A text, to be sorted by its bytes. */
  sortable(text: SQL): SQL;
  /** Ends a subquery that must not be merged with the query around it. */
  readonly unmerged: SQL;
}

const sqlite: Phrases = {
  day: (day) => sql`${day}`,
  calendar: (name, from, until) => sql`  SELECT ${from}
  UNION ALL
  SELECT date(date, '+1 day') FROM ${sql.raw(name)} WHERE date < ${until}`,
  weekOf: (day) => sql`date(${day}, 'weekday 0', '-6 days')`,
  monthOf: (day) => sql`substr(${day}, 1, 7)`,
  textOf: (day) => day,
  dayOf: (instant) => sql`substr(${instant}, 1, 10)`,
  sortable: (text) => text,
  unmerged: sql``,
};

const postgres: Phrases = {
  day: (day) => sql`CAST(${day} AS date)`,
  calendar: (_name, from, until) => sql`  SELECT CAST(day AS date)
  FROM generate_series(CAST(${from} AS timestamp), CAST(${until} AS timestamp), INTERVAL '1 day') AS day`,
  weekOf: (day) => sql`CAST(date_trunc('week', CAST(${day} AS timestamp)) AS date)`,
  monthOf: (day) => sql`to_char(${day}, 'YYYY-MM')`,
  textOf: (day) => sql`to_char(${day}, 'YYYY-MM-DD')`,
  dayOf: (instant) => sql`CAST(${instant} AT TIME ZONE 'UTC' AS date)`,
  sortable: (text) => sql`${text} COLLATE "C"`,
  unmerged: sql` OFFSET 0`,
};

/** How each database writes what the databases write differently. */
export const PHRASES: Readonly<Record<Dialect, Phrases>> = { sqlite, postgres };
