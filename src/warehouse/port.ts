import type { AnyTable } from '../../schema/define.ts';
import type { RowOf } from '../../schema/row.ts';
import type { tables } from '../../schema/tables.ts';
import type { UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import type {
  CommitOutcome,
  DayCommit,
  ReadinessPageCommit,
  ReadinessWalkEnd,
  ReopenedDay,
  UnitDoubt,
  UnitFailure,
  UnitNotes,
} from './commits.ts';
import type { EncodedRows, Row, TableRows, Value, Values } from './rows.ts';
import type { RunEnd, RunRecord, RunStart } from './run-records.ts';
import type { LedgerDay, LedgerReadiness, LedgerUnit, UnitKey } from './unit.ts';

export type { SettleRule } from '../judge/agreement.ts';
export * from './commits.ts';
export { decodedChunks, decodeRows, encodeRows, RowEncoder } from './encoded-rows.ts';
export { keyOfValues } from './ledger-rows.ts';
export * from './unit.ts';
export type { EncodedRows, Row, RunEnd, RunRecord, RunStart, TableRows, Value, Values };

/** How many records are in quarantine, by organization, stream and reason. */
export interface QuarantineCount {
  readonly orgId: string;
  readonly stream: Stream;
  readonly reason: string;
  readonly records: number;
  /** Those of them that a person accepted: they no longer count for the exit code. */
  readonly accepted: number;
}

/** Which records in quarantine are accepted; without a stream those of all, without a day those of every day. */
export interface QuarantineScope {
  readonly stream?: Stream | undefined;
  readonly day?: UtcDay | undefined;
}

/** A row of `sessions`. */
export type SessionRow = RowOf<typeof tables.sessions>;

/** A row of `hook_events` without its organization, which the event does not name. */
export type HookEventRow = Omit<RowOf<typeof tables.hookEvents>, 'org_id'>;

/** Hook events, ready to be stored. */
export interface HookEventCommit {
  /** The organization that they belong to; '' where it is not known. */
  readonly orgId: string;
  readonly rows: readonly HookEventRow[];
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

/** After so many rows the sizes of tables have changed enough for {@link Warehouse.refreshStatistics}. */
export const MUCH_WRITTEN_ROWS = 10_000;

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
  readinessUnit(orgId: string): Promise<LedgerReadiness | null>;

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
  knownReports(orgId: string, tables: readonly TableRows[]): Promise<ReadonlySet<string>>;
  /** The ids of all stored reports. */
  reportIds(orgId: string): Promise<readonly string[]>;
  /** Ends a readiness walk: deletes what is gone, and writes the unit's state and digest. */
  endReadinessWalk(end: ReadinessWalkEnd): Promise<CommitOutcome>;
  /** Records that a pull failed. */
  failUnit(failure: UnitFailure): Promise<void>;
  /** Records that an answer is doubted. */
  doubtUnit(doubt: UnitDoubt): Promise<LedgerDay>;
  /** Writes what looks at settled units found; units that are not settled any more are left alone. */
  noteUnits(orgId: string, notes: readonly UnitNotes[]): Promise<void>;
  /** Opens settled units again, all or none. Answers what the ledger says of them now. */
  reopenDays(orgId: string, days: readonly ReopenedDay[]): Promise<LedgerDay[]>;

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

  /** Stores a created session, or replaces the stored one. */
  recordSession(row: SessionRow): Promise<void>;

  startRun(run: RunStart): Promise<void>;
  endRun(run: RunEnd): Promise<void>;
  /** The latest runs, newest first. */
  runs(limit: number): Promise<RunRecord[]>;
  quarantineCounts(): Promise<QuarantineCount[]>;
  /** Accepts records in quarantine that were not accepted before. Answers how many. They stay in quarantine. */
  acceptQuarantine(scope: QuarantineScope, at: Date): Promise<number>;
  /** How many restatements are on record. */
  restatementCount(): Promise<number>;

  /** All rows of a table in key order, streamed, so memory stays bounded. With `columns` a row has those alone. */
  scan(table: AnyTable, scope?: ScanScope, columns?: readonly string[]): AsyncIterable<readonly Row[]>;
  /**
   * All rows of a table in a small scope, such as a day, in key order and at once: for reads beside commits, which a
   * {@link scan} that is not at its end would keep SQLite from.
   */
  rowsOf(table: AnyTable, scope: ScanScope, columns?: readonly string[]): Promise<readonly Row[]>;

  /**
   * Writes and removes rows of any table as they are, all or none: for moving a warehouse, whose ledger moves with it.
   * Answers how many rows were inserted, updated or deleted.
   */
  change(changes: RowChanges): Promise<number>;

  /**
   * Brings up to date what the database knows of the sizes of its tables, by which it chooses how to answer a query. Call
   * after much was written. Changes no row.
   */
  refreshStatistics(): Promise<void>;

  /** What the database finds damaged in its storage, a sentence each; `[]` where it cannot look, as PostgreSQL. */
  damages(): Promise<string[]>;
  /** Reads in one snapshot: what others commit meanwhile is not seen. `read` must not write. */
  inSnapshot<Result>(read: () => Promise<Result>): Promise<Result>;

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
