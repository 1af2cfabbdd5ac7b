import type { UtcDay } from '../../core/day.ts';
import type { CoveredDays, MetricRow } from '../../metrics/question.ts';
import type { QueryRow } from '../../warehouse/port.ts';

/** What numbers rest on: the days of a period, how well the ledger knows them, and the run that changed them last. */
export interface Basis {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly days: CoveredDays;
  /** Null if no run is recorded. */
  readonly run: { readonly id: string; readonly endedAt: string | null } | null;
}

/** The answer to one query of a page. */
export interface Result<Row extends QueryRow = QueryRow> {
  /** Name on this page: `q1`, `q2`, … in the order of the questions. Formulas use it. */
  readonly id: string;
  /** What the query answers, for the list of queries. */
  readonly title: string;
  /** The query with its values as literals; it gives the same rows in the same order. */
  readonly sql: string;
  readonly rows: readonly Row[];
  /** The column of the query that has the `value` of a row, because a query can answer several metrics. @default value */
  readonly column?: string;
  /** For example credits, users, EUR or ratio; null if the query is not a metric. */
  readonly unit: string | null;
  readonly basis: Basis;
  /** What limits the numbers, one sentence each. */
  readonly warnings: readonly string[];
}

/** The answer to a question about a metric. */
export type MetricResult = Result<MetricRow>;
