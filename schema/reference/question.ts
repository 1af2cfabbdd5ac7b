import type { Dimension } from '../metrics/define.ts';
import { pricedOn } from '../query.ts';

/** A question as `daywalk metric` asks it. */
export interface MetricCall {
  readonly metric: string;
  readonly by?: readonly Dimension[];
  /** First day. @default all days */
  readonly from?: string;
  readonly until?: string;
  /** The value of each dimension that is filtered by. */
  readonly filter?: Readonly<Partial<Record<Dimension, string>>>;
  readonly top?: number;
  readonly order?: 'value' | 'change';
  /** How the other span is found. */
  readonly compare?: 'previous' | 'calendar';
  /** True to follow people from the month of their first activity. */
  readonly cohort?: boolean;
}

/** Another command, and where its JSON document has the rows: `organizations.0.missing`. */
interface OtherCall {
  readonly command: string;
  readonly rows: string;
}

/**
 * A question that analysts ask, the one command that answers it, and the one SELECT whose columns are equal to those of the rows of
 * the command. A command may have more columns, and adds the others and the total. To add a question, append it to a list and run
 * `npm run docs:questions`, which refuses a command and a SELECT that disagree.
 */
export interface Question {
  readonly id: string;
  readonly title: string;
  /** Undefined if no command answers it. */
  readonly ask?: MetricCall | OtherCall;
  readonly sql: string;
  /** What to know about the answer. */
  readonly note?: string;
  /**
   * True if the answer can be read from a rollup, so that it takes no time even over a long history.
   * @default false
   */
  readonly isFromRollup?: boolean;
}

/** True if a metric answers the question. */
export function isMetricCall(ask: Question['ask']): ask is MetricCall {
  return ask !== undefined && 'metric' in ask;
}

/** The command line of a call. */
export function commandOf(ask: MetricCall | OtherCall): string {
  if (!isMetricCall(ask)) return ask.command;
  const { metric, by = [], from, until, filter = {}, top, order, compare, cohort = false } = ask;
  return [
    `daywalk metric ${metric}`,
    ...(by.length > 0 ? [`--by ${by.join(',')}`] : []),
    ...(cohort ? ['--cohort first-month'] : []),
    ...(from === undefined ? [] : [`--from ${from}`]),
    ...(until === undefined ? [] : [`--until ${until}`]),
    ...Object.entries(filter).map(([name, value]) => `--filter ${name}=${value}`),
    ...(compare === undefined ? [] : [compare === 'previous' ? '--compare' : `--compare ${compare}`]),
    ...(top === undefined ? [] : [`--top ${top}`]),
    ...(order === undefined ? [] : [`--order ${order}`]),
  ].join(' ');
}

/** The first day of the month of the demo, and the span that it is compared with. */
export const MONTH = '2026-11-01';
export const THIS_MONTH = "date BETWEEN '2026-11-01' AND '2026-11-19'";
export const WEEKS_BEFORE = "date BETWEEN '2026-10-04' AND '2026-10-22'";
export const MONTH_OF_DAY = 'SUBSTR(CAST(date AS text), 1, 7)';

/** The columns `value` and `before` of a sum in this month and in the weeks before. */
export const inBoth = (
  expression: string,
  whole = (sum: string) => sum,
) => `${whole(`SUM(CASE WHEN ${THIS_MONTH} THEN ${expression} ELSE 0 END)`)} AS value,
  ${whole(`SUM(CASE WHEN ${WEEKS_BEFORE} THEN ${expression} ELSE 0 END)`)} AS before`;

/** A cost of {@link WITH_PRICE}: NULL if a row has no price, or if the prices have several currencies. */
export const priced = (sum: string) =>
  `CASE WHEN COUNT(currency) = COUNT(*) AND COUNT(DISTINCT currency) = 1 THEN ${sum} END`;

/** Rows with the team of their user on the day. */
export const withTeam = (table: string) =>
  `${table} r
LEFT JOIN user_teams t ON t.org_id = r.org_id AND t.user_id = r.user_id AND r.date BETWEEN t.valid_from AND t.valid_to`;

/** Rows with the price of their day. */
export const WITH_PRICE = `LEFT JOIN prices p ON p.org_id = r.org_id AND ${pricedOn('r.date')}`;

export const monthly = (expression: string, table = 'org_monthly') =>
  `SELECT month, ${expression} AS value FROM ${table} ORDER BY month`;

/** The largest parts of a table in some days. */
export const largest = (name: string, as: string, expression: string, from: string) =>
  `SELECT ${name} AS ${as}, ${expression} AS value
FROM ${from}
GROUP BY ${name}
ORDER BY value DESC NULLS LAST, ${as}`;
