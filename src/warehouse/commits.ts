import type { UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import type { SettleRule } from '../judge/agreement.ts';
import type { EncodedRows, TableRows } from './rows.ts';
import type { DayKey, DayUnit, LedgerUnit, UnitKey } from './unit.ts';

/** A record that is set aside, as JSON text. */
export interface QuarantinedRecord {
  readonly reason: string;
  /** Place in the record, for example `by_tool[3].tool`; '' for the record itself. */
  readonly path: string;
  readonly record: string;
  readonly recordSha256: string;
}

/** A place where an answer went beyond the known schema. */
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
  /** Whether it has activity; whether a day without any is empty, or settles at all, is decided with the whole day. */
  readonly state: 'loaded' | 'awaiting' | 'quarantined';
  /** By what the day settles. */
  readonly rule: SettleRule;
  /** The content is that of the day's own answer, not of a range of days. */
  readonly isOwn: boolean;
  /** Users that the content counts as active, see `export_units.active_users`. */
  readonly activeUsers: number | null;
  /** The run that brings it. */
  readonly runId: string;
  readonly quarantined: readonly QuarantinedRecord[];
  readonly drift: readonly Drift[];
  readonly requests: number;
  readonly pulledAt: Date;
  /** Digest of the answers, for the next pull to compare. Default: null, not known. */
  readonly answersSha256?: string | null;
  /**
   * The stored content that this one was judged against, by digest. Where other content is stored meanwhile, the commit
   * is refused with `ClaimLostError`. Default: whatever is stored.
   */
  readonly basedOn?: string | null | undefined;
  /**
   * The content is the stored one, of the digest above: `tables` is empty, and this many rows stay as they are. Where
   * other content is stored meanwhile, the commit is refused with `ClaimLostError`.
   */
  readonly unchanged?: { readonly rows: number };
  /**
   * Compare every stored row even where the digest is the ledger's: repairs rows that something else has changed.
   * Default: false.
   */
  readonly rewrite?: boolean;
}

/** The rows that a day has once it is committed. */
export function rowCount({ unchanged, tables }: DayCommit): number {
  return unchanged?.rows ?? tables.reduce((sum, { count }) => sum + count, 0);
}

/** What a commit did. */
export interface CommitOutcome {
  /** Fact rows inserted, updated or deleted; 0 when the content was the same. */
  readonly rowsWritten: number;
  /** True when content that was stored before has changed. */
  readonly restated: boolean;
  /** What the ledger says now of every unit that it changed for: the committed one, and others of its day. */
  readonly units: readonly LedgerUnit[];
}

/** An answer that is not believed: it would remove what is stored. The stored rows stay. */
export interface UnitDoubt {
  readonly unit: DayKey;
  /** The doubt as JSON text, and since when it stands, see `src/judge/doubt.ts`. */
  readonly doubt: string;
  readonly since: string;
  readonly requests: number;
  readonly pulledAt: Date;
  readonly rule: SettleRule;
}

/** What a look at a settled unit leads to, see `src/judge/watch.ts`. */
export interface UnitNotes extends DayUnit {
  /** The content that was compared; notes on another one are dropped. */
  readonly contentSha256: string | null;
  /** The column `watch` from now on. */
  readonly watch: string | null;
}

/** A day to be pulled again, although it has settled. */
export interface ReopenedDay {
  readonly day: UtcDay;
  /** Which of its units. */
  readonly streams: readonly DailyStream[];
}

/** One page of readiness reports, ready to be stored. */
export interface ReadinessPageCommit {
  readonly orgId: string;
  readonly tables: readonly TableRows[];
  /** Where the walk goes on after this page, as JSON text. */
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
  /** What the next walk needs to know, as JSON text. */
  readonly cursor: string;
  /** Every report that the walk saw, when it saw all of them: the others are deleted. Null keeps them. */
  readonly seenReportIds: ReadonlySet<string> | null;
  /** Digests of the records that the walk set aside, when it saw all reports: others leave quarantine. */
  readonly seenQuarantine: ReadonlySet<string> | null;
  /** The walk would have deleted too much to be believed: nothing is deleted, and the unit is doubted. */
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
