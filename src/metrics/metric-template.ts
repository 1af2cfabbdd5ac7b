import { type Dialect, queryTemplate } from '../../schema/query.ts';
import { parseDay } from '../core/day.ts';
import { metricQuery } from './answer-metric.ts';
import type { NamedQuery } from './query/select.ts';
import type { MetricQuestion } from './question.ts';

/** A question whose organization and period are filled in later, where the SQL runs. */
export type OpenQuestion = Pick<MetricQuestion, 'metric' | 'by' | 'together'>;

/** SQL expressions in place of values. Each gives one text, in any database: of a day, `YYYY-MM-DD`. */
export interface QuestionExpressions {
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
