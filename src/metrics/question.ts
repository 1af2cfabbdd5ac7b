import type { Dimension } from '../../schema/metrics.ts';
import type { UtcDay } from '../core/day.ts';

export { DIMENSIONS, type Dimension } from '../../schema/metrics.ts';

/** What to compute. */
export interface MetricQuestion {
  /** Name of a metric of the dictionary. */
  readonly metric: string;
  readonly orgId: string;
  /**
   * Metrics that one statement answers, this one among them, so that questions that differ in the metric only share it. Those
   * that cannot share it are left out.
   * @default the metric alone
   */
  readonly together?: readonly string[] | undefined;
  /** At most one of date, week and month. */
  readonly by: readonly Dimension[];
  /**
   * First day of the period.
   * @default 2026-01-14
   */
  readonly from?: UtcDay | undefined;
  /**
   * Last day of the period.
   * @default the newest loaded day of the stream that the metric is computed from
   */
  readonly until?: UtcDay | undefined;
  /** Only rows of this team on their date; null means without a team. */
  readonly team?: string | null | undefined;
  /** Only rows of this user ID. */
  readonly user?: string | undefined;
}

/** Which days an answer rests on. */
export interface CoveredDays {
  /** Number of days in the period. */
  readonly expected: number;
  /** How many of them are stored and final. */
  readonly settled: number;
  /** Days that are stored but may still change: not settled, doubted, or never confirmed. */
  readonly unsettled: readonly UtcDay[];
  /** Days that are not stored. */
  readonly missing: readonly UtcDay[];
}

/** A row of an answer: the value, and the dimensions that were asked for by name. A user or team may be null. */
export type MetricRow = Readonly<Record<string, string | number | null>> & { readonly value: number | null };

/** The answer, as `daywalk metric --json` prints it. */
export interface MetricAnswer {
  readonly metric: string;
  readonly org_id: string;
  /** For example credits, users, sessions, EUR, or ratio. */
  readonly unit: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** In the order of the dimensions that were asked for, each ascending. */
  readonly rows: readonly MetricRow[];
  readonly days: CoveredDays;
  /** The run that last changed one of the units; null if none is stored. */
  readonly run_id: string | null;
  /** What limits the answer, one sentence each: people are not loaded, a price is missing. */
  readonly warnings: readonly string[];
}
