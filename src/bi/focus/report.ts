import type { CoveredDays } from '../../metrics/question.ts';
import type { CorrectionReason } from './columns.ts';
import type { Total } from './totals.ts';

/** The result of a FOCUS export. */
export interface FocusReport {
  readonly file: string;
  readonly kind: 'original' | 'correction';
  readonly org_id: string;
  readonly month: string;
  /** Null if nothing is charged. */
  readonly currency: string | null;
  readonly bytes: number;
  /** True if the file was there already, with the same bytes. */
  readonly is_unchanged: boolean;
  /** What the file holds. */
  readonly total: Total;
  /** The corrections by their reason; null for an original. */
  readonly corrections: Readonly<Record<CorrectionReason, Total>> | null;
  /** What the month costs now: this file and all that were issued before. */
  readonly month_total: Total;
  /** The part of it that no user and model has. */
  readonly unattributed: Total;
  /** The metric `cost` of the month, which comes from the rows of users, and how far the month's total is above it. */
  readonly metric_cost: number | null;
  readonly difference: number | null;
  /** Which days of the month the file rests on. */
  readonly days: CoveredDays;
  /** What limits the file, one sentence each. */
  readonly warnings: readonly string[];
}
