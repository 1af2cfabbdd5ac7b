import type { UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import type { SettleRule } from '../judge/agreement.ts';
import type { EncodedRows, TableRows } from './rows.ts';
import type { DayKey, DayUnit, LedgerUnit, UnitKey } from './unit.ts';

/** A record in quarantine, as JSON text. */
export interface QuarantinedRecord {
  readonly reason: string;
  /** Place in the record, for example `by_tool[3].tool`; '' for the record itself. */
  readonly path: string;
  readonly record: string;
  readonly recordSha256: string;
}

/** A place where an answer does not fit the known schema. */
export interface Drift {
  readonly path: string;
  readonly kind: 'unknown field' | 'wrong type' | 'new value';
  readonly sample: string;
}

/** The content of one day of one stream, ready to be stored. */
export interface DayCommit extends DayKey {
  /** Every table of the stream, rows in key order, each key once. */
  readonly tables: readonly EncodedRows[];
  /** Digest of `tables`, see `schema/digest.ts`. */
  readonly contentSha256: string;
  /**
   * `awaiting` means that it has no activity. Whether such a day is empty, or settles, depends on the other streams
   * of the day.
   */
  readonly state: 'loaded' | 'awaiting' | 'quarantined';
  readonly rule: SettleRule;
  /** The content comes from a request for this day alone, not from a range. */
  readonly isOwn: boolean;
  /** Active users according to the content, see `export_units.active_users`. */
  readonly activeUsers: number | null;
  /** The run that commits it. */
  readonly runId: string;
  readonly quarantined: readonly QuarantinedRecord[];
  readonly drift: readonly Drift[];
  readonly requests: number;
  readonly pulledAt: Date;
  /**
   * Digest of the answers, for the next pull to compare.
   * @default null: not known
   */
  readonly answersSha256?: string | null;
  /**
   * Digest of the stored content that this one was judged against. If other content is stored by then, the commit is
   * refused with `ClaimLostError`.
   * @default not checked
   */
  readonly basedOn?: string | null | undefined;
  /**
   * The content is already stored: `tables` is empty, and this many rows stay as they are. If other content is stored
   * by then, the commit is refused with `ClaimLostError`.
   */
  readonly unchanged?: { readonly rows: number };
  /**
   * Compare every stored row even if the digest is the ledger's. This repairs rows that another program changed.
   * @default false
   */
  readonly rewrite?: boolean;
}

/** The number of rows of a day after its commit. */
export function rowCount({ unchanged, tables }: DayCommit): number {
  return unchanged?.rows ?? tables.reduce((sum, { count }) => sum + count, 0);
}

export interface CommitOutcome {
  /** Fact rows inserted, updated or deleted; 0 when the content was the same. */
  readonly rowsWritten: number;
  /** True if published content has changed. */
  readonly restated: boolean;
  /** The new ledger rows of all units that changed: the committed one and others of its day. */
  readonly units: readonly LedgerUnit[];
}

/** An answer that is not believed because it would remove stored rows. The stored rows stay. */
export interface UnitDoubt {
  readonly unit: DayKey;
  /** The doubt as JSON text, and its beginning as an ISO instant, see `src/judge/doubt.ts`. */
  readonly doubt: string;
  readonly since: string;
  readonly requests: number;
  readonly pulledAt: Date;
  readonly rule: SettleRule;
}

/** The notes of a settled unit after a comparison, see `src/judge/watch.ts`. */
export interface UnitNotes extends DayUnit {
  /** Digest of the content that was compared. If the unit holds other content by then, the notes are dropped. */
  readonly contentSha256: string | null;
  /** The new value of the column `watch`. */
  readonly watch: string | null;
}

/** A settled day to pull again. */
export interface ReopenedDay {
  readonly day: UtcDay;
  /** The streams to pull again. */
  readonly streams: readonly DailyStream[];
}

/** One page of readiness reports, ready to be stored. */
export interface ReadinessPageCommit {
  readonly orgId: string;
  readonly tables: readonly TableRows[];
  /** The position after this page, as JSON text. */
  readonly cursor: string;
  readonly quarantined: readonly QuarantinedRecord[];
  readonly drift: readonly Drift[];
  readonly requests: number;
  readonly pulledAt: Date;
  readonly runId: string;
}

/** The end of a readiness walk. */
export interface ReadinessWalkEnd {
  readonly orgId: string;
  /** The position for the next walk, as JSON text. */
  readonly cursor: string;
  /**
   * Every report that the service has: the others are deleted. Null if the walk did not see all of them; then none is
   * deleted.
   */
  readonly seenReportIds: ReadonlySet<string> | null;
  /** Digests of the records that the walk quarantined; other records leave quarantine. Null if it did not see all reports. */
  readonly seenQuarantine: ReadonlySet<string> | null;
  /** Set if too many stored reports are missing to believe it: none is deleted, and the unit is doubted. */
  readonly doubt?: Pick<UnitDoubt, 'doubt' | 'since'> | undefined;
  readonly runId: string;
  readonly requests: number;
  readonly pulledAt: Date;
}

/** A pull that failed. Stored rows stay as they are. */
export interface UnitFailure {
  readonly unit: UnitKey;
  readonly state: 'failed' | 'awaiting';
  readonly error: string;
  readonly requests: number;
  readonly pulledAt: Date;
  readonly rule: SettleRule;
}
