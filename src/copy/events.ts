import type { UtcDay } from '../core/day.ts';
import type { ExitCode } from '../core/exit-code.ts';

/** What a copy says while it works. Observers must not throw and should return at once. */
export type CopyEvent =
  | { readonly type: 'copy-started'; readonly from: string; readonly to: string }
  /** What the ledgers of both sides say is to be done. */
  | { readonly type: 'copy-planned'; readonly units: number; readonly unchanged: number }
  /** The destination loses what it alone holds, as it was asked to. */
  | { readonly type: 'copy-replaces'; readonly to: string; readonly lost: string }
  /** One transaction was committed in the destination. */
  | {
      readonly type: 'copied';
      /** The stream, or the table of rows that belong to no stream. */
      readonly what: string;
      readonly firstDay: UtcDay | '';
      readonly lastDay: UtcDay | '';
      readonly units: number;
      readonly rowsWritten: number;
    }
  | { readonly type: 'warning'; readonly message: string; readonly hint: string | undefined }
  | { readonly type: 'copy-comparing'; readonly table: string }
  | { readonly type: 'copy-ended'; readonly report: CopyReport };

/** Receives the events of a copy. */
export type CopyObserver = (event: CopyEvent) => void;

/** What a copy did to one table, and what both sides hold now. */
export interface CopiedTable {
  readonly table: string;
  /** Rows in the source. */
  readonly rows: number;
  /** Rows inserted or updated in the destination. */
  readonly written: number;
  /** Rows deleted there. */
  readonly removed: number;
  /** True when both sides hold the same rows. */
  readonly isSame: boolean;
}

/** What a copy did. */
export interface CopyReport {
  /** Where from and where to, as they may be shown. */
  readonly from: string;
  readonly to: string;
  /** 0, or 5 when the two sides differ in the end. */
  readonly exitCode: ExitCode;
  /** Units that were written. */
  readonly unitsMoved: number;
  /** Units that were the same already. */
  readonly unitsUnchanged: number;
  /** Units that the source does not have and that were deleted. */
  readonly unitsRemoved: number;
  /** Rows inserted, updated or deleted in the destination, the ledger's among them. */
  readonly rowsWritten: number;
  readonly tables: readonly CopiedTable[];
  /** The digests of the content, as `daywalk digest` tells them. */
  readonly digest: { readonly from: string; readonly to: string };
  readonly durationMs: number;
}
