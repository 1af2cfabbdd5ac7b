import { type Dialect, type SQL, sql } from '../../schema/query.ts';
import { FIRST_DAY } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import { PHRASES } from './query/dialect.ts';
import type { NamedQuery } from './query/select.ts';
import { loadedUnit, storedUnit } from './stored-units.ts';

/** SQL expressions that replace the default organization or days, where they give a text and not NULL. */
export interface PeriodChoice {
  readonly orgId?: string;
  readonly from?: string;
  readonly until?: string;
}

/**
 * The named query `period` with one row, for SQL that runs in other tools: `org_id`, `first_day` and `last_day` as text. The
 * days are those of `daywalk metric` by default. Without a choice, the organization is the only one of the warehouse; if it
 * has several, it is NULL, so that every value is.
 */
export function periodQuery(
  dialect: Dialect,
  stream: Stream,
  { orgId, from, until }: PeriodChoice = {},
): NamedQuery {
  const only = sql`(SELECT CASE WHEN MIN(org_id) = MAX(org_id) THEN MIN(org_id) END FROM export_units)`;
  const first = sql.raw(`CAST('${FIRST_DAY}' AS text)`);
  const body = sql`  SELECT o.org_id,
    ${chosen(from, first)} AS first_day,
    ${chosen(until, newestDay(dialect, stream))} AS last_day
  FROM (SELECT ${chosen(orgId, only)} AS org_id) AS o`;
  return { name: 'period', body };
}

/** The expressions of a query that begins with {@link periodQuery}. */
export const PERIOD_EXPRESSIONS = {
  orgId: '(SELECT org_id FROM period)',
  from: '(SELECT first_day FROM period)',
  until: '(SELECT last_day FROM period)',
} as const;

function chosen(expression: string | undefined, otherwise: SQL): SQL {
  return expression === undefined ? otherwise : sql`COALESCE(${sql.raw(expression)}, ${otherwise})`;
}

function newestDay(dialect: Dialect, stream: Stream): SQL {
  const { dayOf, textOf } = PHRASES[dialect];
  const unit = sql`e.org_id = o.org_id AND e.stream = ${stream}`;
  if (stream !== 'readiness') {
    return sql`(SELECT MAX(e.date) FROM export_units e WHERE ${unit} AND ${loadedUnit('e')})`;
  }
  const instant = sql`CASE WHEN e.state IN ('failed', 'pending')
      THEN COALESCE(e.changed_at, e.first_loaded_at) ELSE e.last_pulled_at END`;
  return sql`(SELECT MAX(${textOf(dayOf(sql`${instant}`))}) FROM export_units e WHERE ${unit} AND ${storedUnit('e')})`;
}
