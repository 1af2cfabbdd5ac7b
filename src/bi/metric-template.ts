import { type Dialect, queryTemplate, type SQL, sql } from '../../schema/query.ts';
import { FIRST_DAY, parseDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import { loadedUnit, type MetricQuestion, metricQuery, type NamedQuery, PHRASES } from '../metrics/index.ts';
import { storedUnit } from '../units/index.ts';

/** A question whose organization and period are filled in later, where the SQL runs. */
export type OpenQuestion = Pick<MetricQuestion, 'metric' | 'by' | 'together'>;

/** SQL expressions in place of values. Each gives one text, in any database: of a day, `YYYY-MM-DD`. */
interface QuestionExpressions {
  readonly orgId: string;
  /** The first day of the period. */
  readonly from: string;
  /** The last day of the period. */
  readonly until: string;
  /** The name of a team. @default everybody, with and without a team */
  readonly team?: string;
}

// Values that no query has by itself. Without rollups, a query has the days of its period only as parameters.
const ORGANIZATION = 'the organization of the template';
const TEAM = 'the team of the template';
const FROM = parseDay('1000-01-01');
const UNTIL = parseDay('1000-12-31');

/**
 * The SQL of a metric for other tools: the query of `daywalk metric`, with expressions in place of organization and period. It
 * begins with `WITH RECURSIVE`, reads the rows of days and no rollups, and reads teams from `user_teams`. A cost in several currencies, which `daywalk metric`
 * refuses, is NULL.
 * @param first named queries that the text begins with, for the expressions to refer to.
 * @throws {UsageError} if the metric does not exist, does not have the dimensions, or does not add up.
 */
export function metricTemplate(
  dialect: Dialect,
  question: OpenQuestion,
  { orgId, from, until, team }: QuestionExpressions,
  first: readonly NamedQuery[] = [],
): string {
  const query = metricQuery(
    dialect,
    { ...question, orgId: ORGANIZATION, from: FROM, until: UNTIL, ...(team !== undefined && { team: TEAM }) },
    { first, checksCurrency: true },
  );
  const expressions = new Map<string, string>([
    [ORGANIZATION, orgId],
    [FROM, from],
    [UNTIL, until],
    ...(team === undefined ? [] : ([[TEAM, team]] as const)),
  ]);
  return queryTemplate(query, expressions);
}

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
