import type { AnyTable } from '../../schema/define.ts';
import type { UtcDay } from '../core/day.ts';
import type { DailyStream, Stream } from '../core/stream.ts';
import type { SettleRule } from '../judge/agreement.ts';
import type { CommitWatch } from './commit-watch.ts';
import type { EncodedRows, Row, TableRows, Value } from './rows.ts';
import type { RunEnd, RunRecord, RunStart } from './run-records.ts';

export type { SettleRule } from '../judge/agreement.ts';
export { decodedChunks, decodeRows, encodeRows, isActiveRow, RowEncoder } from './encoded-rows.ts';
export type { CommitWatch, EncodedRows, Row, RunEnd, RunRecord, RunStart, TableRows, Value };

/** The states of a unit, see the column `export_units.state`. */
export const UNIT_STATES = [
  'pending',
  'awaiting',
  'loaded',
  'empty',
  'doubted',
  'quarantined',
  'failed',
] as const;

/** One of {@link UNIT_STATES}. */
export type UnitState = (typeof UNIT_STATES)[number];

/**
 * Why a unit settled: it has rows with activity; no stream of the day has any; or it is so old that it is no longer
 * asked for, although nothing ever confirmed it.
 */
export const CONFIRMATIONS = ['data', 'agreed', 'age'] as const;

/** One of {@link CONFIRMATIONS}. */
export type Confirmation = (typeof CONFIRMATIONS)[number];

/** Names a unit: `day` is '' for readiness. */
export interface UnitKey {
  readonly orgId: string;
  readonly stream: Stream;
  readonly day: UtcDay | '';
}

/** What the ledger says of a unit. */
export interface LedgerUnit extends UnitKey {
  readonly state: UnitState;
  readonly rows: number;
  readonly contentSha256: string | null;
  readonly attempts: number;
  readonly requests: number;
  readonly firstLoadedAt: string | null;
  readonly lastPulledAt: string | null;
  readonly changedAt: string | null;
  readonly settledAt: string | null;
  /** Where a readiness walk resumes, as JSON text; null for days. */
  readonly cursor: string | null;
  readonly lastError: string | null;
  /** Digest of the answers that the content was made of. */
  readonly answersSha256: string | null;
  readonly doubtedAt: string | null;
  /** The present doubt as JSON text, see `src/judge/doubt.ts`. */
  readonly doubt: string | null;
  readonly confirmed: Confirmation | null;
  /** The run that last changed the content. */
  readonly runId: string | null;
  /** Users that the content counts as active; null for streams that count none. */
  readonly activeUsers: number | null;
  /** What the watch found, as JSON text, see `src/judge/notes.ts`. */
  readonly watch: string | null;
}

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
export interface DayCommit {
  readonly orgId: string;
  readonly stream: DailyStream;
  readonly day: UtcDay;
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
export interface UnitDoubt extends UnitKey {
  /** The doubt as JSON text, and since when it stands, see `src/judge/doubt.ts`. */
  readonly doubt: string;
  readonly since: string;
  readonly requests: number;
  readonly pulledAt: Date;
  readonly rule: SettleRule;
}

/** What a look at a settled unit leads to, see `src/judge/watch.ts`. */
export interface UnitNotes {
  readonly stream: DailyStream;
  readonly day: UtcDay;
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
export interface UnitFailure extends UnitKey {
  readonly state: 'failed' | 'awaiting';
  readonly error: string;
  readonly requests: number;
  readonly pulledAt: Date;
  readonly rule: SettleRule;
}

/** How many records are in quarantine, by organization, stream and reason. */
export interface QuarantineCount {
  readonly orgId: string;
  readonly stream: Stream;
  readonly reason: string;
  readonly records: number;
}

/** Hook events, ready to be stored. */
export interface HookEventCommit {
  /** The organization that they belong to; '' where it is not known. */
  readonly orgId: string;
  /** Rows of `hook_events` without `org_id`. */
  readonly rows: readonly Row[];
}

/** How the right to run is asked for. */
export interface LockOptions {
  /**
   * Refuse every other holder: for work on the warehouse as a whole. Default: false, which lets a database server's
   * other workers share the plan by claiming units; SQLite has one holder in any case.
   */
  readonly exclusive?: boolean;
}

/** The right to run against a warehouse. Freed by `release`, and by the operating system at any death. */
export interface RunLock {
  /**
   * Claims units, so that no other worker works on them until they are freed: a claim dies with its process. Answers
   * the ledger's rows of those that were free, as they are once claimed; the others are at work elsewhere.
   */
  claim(units: readonly UnitKey[]): Promise<LedgerUnit[]>;
  /** Claims the watch over an organization's settled units. False while another worker has it. */
  claimWatch(orgId: string): Promise<boolean>;
  /** Frees claimed units, whether they were committed or not. */
  free(units: readonly UnitKey[]): Promise<void>;
  /** Frees everything. */
  release(): Promise<void>;
}

/** Rows to be written and removed as they are, see {@link Warehouse.change}. */
export interface RowChanges {
  /** Whole rows to insert, or to update where they differ. */
  readonly put: readonly TableRows[];
  /** Rows to delete where they exist; only the values of their key columns are looked at, the others may be null. */
  readonly remove: readonly TableRows[];
}

/** Which rows of a table are meant; without days those of every day. */
export interface ScanScope {
  readonly orgId: string;
  /** First and last day, for tables with a `date` only. */
  readonly firstDay?: UtcDay;
  readonly lastDay?: UtcDay;
}

/** A copy of a warehouse, see {@link Warehouse.saveCopy}. */
export interface SavedCopy {
  readonly path: string;
  readonly bytes: number;
}

/** What reads of a warehouse need; another thread has one of its own. */
export type WarehouseReader = Pick<Warehouse, 'scan' | 'inSnapshot' | 'close'>;

/**
 * A warehouse: the tables of `schema/` in one database.
 *
 * Each method that writes is one transaction: it happened whole or not at all, whatever kills the process. All may
 * throw `StorageError` (exit code 6) and, where another process holds the database for too long, `BusyError` (75).
 */
export interface Warehouse {
  /** Path or URL as it may be shown: without password. */
  readonly location: string;

  /**
   * Takes the run lock.
   * @throws {BusyError} when it is held in a way that excludes this.
   */
  lock(options?: LockOptions): Promise<RunLock>;

  /** The organizations that the ledger knows. */
  organizations(): Promise<string[]>;
  /** The ledger's units of an organization; all streams unless named. */
  units(orgId: string, streams?: readonly Stream[]): Promise<LedgerUnit[]>;
  /** The ledger's readiness unit of an organization. */
  readinessUnit(orgId: string): Promise<LedgerUnit | null>;

  /**
   * Stores a day: rows upserted, rows of the day that are gone deleted, quarantine replaced, the ledger and, where
   * stored content changed, a restatement written. Content equal to the ledger's digest writes no fact row.
   */
  commitDay(commit: DayCommit): Promise<CommitOutcome>;
  /** Stores several days of one organization, each as {@link commitDay} does, in one transaction: all or none. */
  commitDays(commits: readonly DayCommit[]): Promise<CommitOutcome[]>;
  /** Stores one page of readiness reports and the place where the walk goes on. */
  commitReadinessPage(page: ReadinessPageCommit): Promise<CommitOutcome>;
  /** Which of these reports are stored with the same content. */
  knownReports(orgId: string, tables: readonly TableRows[]): Promise<Set<string>>;
  /** The ids of all stored reports. */
  reportIds(orgId: string): Promise<readonly string[]>;
  /** Ends a readiness walk: deletes what is gone, and writes the unit's state and digest. */
  endReadinessWalk(end: ReadinessWalkEnd): Promise<CommitOutcome>;
  /** Records that a pull failed. */
  failUnit(failure: UnitFailure): Promise<void>;
  /** Records that an answer is doubted. */
  doubtUnit(doubt: UnitDoubt): Promise<LedgerUnit>;
  /** Writes what looks at settled units found; units that are not settled any more are left alone. */
  noteUnits(orgId: string, notes: readonly UnitNotes[]): Promise<void>;
  /** Opens settled units again, all or none. Answers what the ledger says of them now. */
  reopenDays(orgId: string, days: readonly ReopenedDay[]): Promise<LedgerUnit[]>;

  /**
   * Stores hook events, and gives those that were stored without an organization to this one. An event whose id is
   * stored already, under whatever organization, is not stored again. Answers how many rows were written.
   */
  storeHookEvents(commit: HookEventCommit): Promise<number>;

  /**
   * What runs remember of an organization under a name, as JSON text; null where nothing is. The organization is '' for
   * what concerns the warehouse itself.
   */
  state(orgId: string, name: string): Promise<string | null>;
  /** Remembers a JSON text, in place of the one before. */
  setState(orgId: string, name: string, value: string): Promise<void>;

  /** Stores a created session, a row of the table `sessions`; one that is stored already is replaced. */
  recordSession(row: Row): Promise<void>;

  startRun(run: RunStart): Promise<void>;
  endRun(run: RunEnd): Promise<void>;
  /** The latest runs, newest first. */
  runs(limit: number): Promise<RunRecord[]>;
  quarantineCounts(): Promise<QuarantineCount[]>;
  /** How many restatements are on record. */
  restatementCount(): Promise<number>;

  /** All rows of a table in key order, streamed, so memory stays bounded. With `columns` a row has those alone. */
  scan(table: AnyTable, scope?: ScanScope, columns?: readonly string[]): AsyncIterable<readonly Row[]>;

  /**
   * Writes and removes rows of any table as they are, all or none: for moving a warehouse, whose ledger moves with it.
   * Answers how many rows were inserted, updated or deleted.
   */
  change(changes: RowChanges): Promise<number>;

  /** What the database finds damaged in its storage, a sentence each; `[]` where it cannot look, as PostgreSQL. */
  damages(): Promise<string[]>;
  /** Reads in one snapshot: what others commit meanwhile is not seen. `read` must not write. */
  inSnapshot<Result>(read: () => Promise<Result>): Promise<Result>;

  /**
   * Begins to watch for commits by others, and for another warehouse in the place of this one: snapshots that begin while
   * the watch is quiet are of one state. Null where the database cannot tell, as PostgreSQL.
   */
  watchCommits(): CommitWatch | null;

  /**
   * Writes one state of the whole warehouse as a single SQLite file that needs no file beside it, and puts it in place
   * at once: readers see the copy that was there before or the new one.
   * @throws {UsageError} where this database cannot, or where something else than such a copy is in the place.
   */
  saveCopy(path: string): Promise<SavedCopy>;

  /**
   * Removes the warehouse where this object created it and nothing is stored in it but traces of one run; only `close` may
   * follow. The caller holds the run lock. False where it stays: PostgreSQL's always does.
   */
  discardNew(): Promise<boolean>;

  close(): Promise<void>;
}
