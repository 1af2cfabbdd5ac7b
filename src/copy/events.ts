import type { UtcDay } from '../core/day.ts';
import type { Advice } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-code.ts';

/** The progress of a copy. Observers must not throw and should return at once. */
export type CopyEvent =
  | { readonly type: 'copy-started'; readonly from: string; readonly to: string }
  /** The ledgers were compared: how many units to move, and how many are equal. */
  | { readonly type: 'copy-planned'; readonly units: number; readonly unchanged: number }
  /** The destination loses what only it holds, because `--replace` was given. */
  | { readonly type: 'copy-replaces'; readonly to: string; readonly lost: string }
  /** One transaction was committed in the destination. */
  | {
      readonly type: 'copied';
      /** The stream, or the table for rows without a stream. */
      readonly what: string;
      readonly firstDay: UtcDay | '';
      readonly lastDay: UtcDay | '';
      readonly units: number;
      readonly rowsWritten: number;
    }
  | ({ readonly type: 'warning'; readonly message: string } & Advice)
  | { readonly type: 'copy-comparing'; readonly table: string }
  | { readonly type: 'copy-ended'; readonly report: CopyReport };

export type CopyObserver = (event: CopyEvent) => void;

export interface CopiedTable {
  readonly table: string;
  /** Rows in the source. */
  readonly rows: number;
  /** Rows inserted or updated in the destination. */
  readonly written: number;
  /** Rows deleted there. */
  readonly removed: number;
  /** True when both sides hold the same rows at the end. */
  readonly isSame: boolean;
}

export interface CopyReport {
  /** Source and destination, without passwords. */
  readonly from: string;
  readonly to: string;
  /** 0, or 5 when the two sides differ at the end. */
  readonly exitCode: ExitCode;
  /** Number of units that were written. */
  readonly unitsMoved: number;
  /** Number of units that were equal already. */
  readonly unitsUnchanged: number;
  /** Number of units that were deleted because the source lacks them. */
  readonly unitsRemoved: number;
  /** Number of rows inserted, updated or deleted in the destination, including the ledger. */
  readonly rowsWritten: number;
  readonly tables: readonly CopiedTable[];
  /** The digests of the content, as `daywalk digest` prints them. */
  readonly digest: { readonly from: string; readonly to: string };
  readonly durationMs: number;
}
