import type { Month } from '../../core/month.ts';
import type { BillNames } from './row.ts';

/** Which file to write. */
export interface FocusRequest {
  readonly orgId: string;
  readonly month: Month;
  /** The file, which ends with `.csv` or `.parquet`. */
  readonly path: string;
  /** The files that were issued for the month, in their order. Without any, an original is written. */
  readonly corrects: readonly string[];
  readonly names: BillNames;
  /** True if the month has ended. */
  readonly isOver: boolean;
}
