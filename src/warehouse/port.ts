import type { AnyTable } from '../../schema/define.ts';
import type { Dialect, SQL } from '../../schema/query.ts';
import type { ColumnOf, RowOf } from '../../schema/row.ts';
import type { tables } from '../../schema/tables.ts';
import type { UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import type { RunEnd, RunRecord, RunStart } from './ledger-rows.ts';
import type { EncodedRows, QueryRow, Steps, TableRows, Value, Values } from './rows.ts';
import type {
  CommitOutcome,
  DayCommit,
  LedgerDay,
  LedgerReadiness,
  LedgerUnit,
  ReadinessPageCommit,
  ReadinessWalkEnd,
  ReopenedDay,
  UnitDoubt,
  UnitFailure,
  UnitKey,
  UnitNotes,
} from './unit.ts';

export type { SettleRule } from '../judge/agreement.ts';
export { keyOfValues } from './ledger-rows.ts';
export type { QueryRow, Steps } from './rows.ts';
export { decodedChunks, decodeRows, encodeRows, RowEncoder, runReads } from './rows.ts';
export * from './unit.ts';

export * from './unit.ts';
export type { EncodedRows, RunEnd, RunRecord, RunStart, TableRows, Value, Values };

/** A row of `sessions`. */
export type SessionRow = RowOf<typeof tables.sessions>;

/** A row of `hook_events` without its organization. */
export type HookEventRow = Omit<RowOf<typeof tables.hookEvents>, 'org_id'>;

/** Hook events, ready to be stored. */
export interface HookEventCommit {
  /** The organization of the events; '' if it is not known. */
  readonly orgId: string;
  readonly rows: readonly HookEventRow[];
  /**
   * Length of the list of the erased with which the rows were compared. If it has grown since, nothing is stored.
   * @default not checked
   */
  readonly erased?: number;
}

/** Rows to write and remove unchanged, see {@link Warehouse.change}. */
export interface RowChanges {
  /** Whole rows to insert, or to update if they differ. */
  readonly put: readonly TableRows[];
  /** Rows to delete if they exist. Only the key columns count; the others may be null. */
  readonly remove: readonly TableRows[];
}

/** Which rows of a table to read. Without days: all days. */
export interface ScanScope {
  readonly orgId: string;
  /** First and last day, for tables with a `date` only. */
  readonly firstDay?: UtcDay;
  readonly lastDay?: UtcDay;
  /** A row: only rows whose keys follow its key. */
  readonly after?: Values;
}

/** A copy of a warehouse, see {@link Warehouse.saveCopy}. */
export interface SavedCopy {
  readonly path: string;
  readonly bytes: number;
}

/** After this many written rows, the caller should call {@link Warehouse.refreshStatistics}. */
export const MUCH_WRITTEN_ROWS = 10_000;

/**
 * A warehouse: the tables of `schema/` in one database.
 *
 * Each method that writes is one transaction: it happens completely or not at all, even if the process is killed. All
 * methods may throw `StorageError` (exit code 6) and, if another process holds the database for too long, `BusyError`
 * (75).
 */
export interface Warehouse {
  /** The path or URL without password. */
  readonly location: string;
  /** The database, which decides the dialect of queries. */
  readonly dialect: Dialect;

  /**
   * Takes the run lock.
   * @throws {BusyError} if another holder excludes this one.
   */
  lock(options?: LockOptions): Promise<RunLock>;

  /** The organizations in the ledger. */
  organizations(): Promise<string[]>;
  /**
   * The ledger's rows of an organization.
   * @param streams
   * @default all streams
   */
  units(orgId: string, streams?: readonly Stream[]): Promise<LedgerUnit[]>;
  /** The ledger's row of the readiness reports; null if they were never pulled. */
  readinessUnit(orgId: string): Promise<LedgerReadiness | null>;

  /**
   * Stores a day: upserts its rows, deletes rows of the day that are gone, replaces its quarantine, and writes the
   * ledger and, if published content changed, a restatement. Content with the ledger's digest writes no fact row.
   */
  commitDay(commit: DayCommit): Promise<CommitOutcome>;
  /** Stores several days of one organization in one transaction, each as {@link commitDay} does. */
  commitDays(commits: readonly DayCommit[]): Promise<CommitOutcome[]>;
  /** Stores one page of readiness reports and the position of the walk. */
  commitReadinessPage(page: ReadinessPageCommit): Promise<CommitOutcome>;
  /** The IDs of those reports that are stored with the same content. */
  knownReports(orgId: string, tables: readonly TableRows[]): Promise<ReadonlySet<string>>;
  /** The IDs of all stored reports. */
  reportIds(orgId: string): Promise<readonly string[]>;
  /** Ends a readiness walk: deletes the reports that are gone, and writes state and digest of the unit. */
  endReadinessWalk(end: ReadinessWalkEnd): Promise<CommitOutcome>;
  /** Records that a pull failed. */
  failUnit(failure: UnitFailure): Promise<void>;
  /** Records that an answer is doubted. */
  doubtUnit(doubt: UnitDoubt): Promise<LedgerDay>;
  /** Writes the notes of settled units. Units that are open again do not change. */
  noteUnits(orgId: string, notes: readonly UnitNotes[]): Promise<void>;
  /** Opens settled units again, all or none. Returns their new ledger rows. */
  reopenDays(orgId: string, days: readonly ReopenedDay[]): Promise<LedgerDay[]>;

  /**
   * Stores hook events, and assigns this organization to events that were stored without one. An event whose ID is
   * stored already, under any organization, is not stored again. Returns the number of rows written.
   * @throws {BusyError} if somebody was erased meanwhile.
   */
  storeHookEvents(commit: HookEventCommit): Promise<number>;

  /**
   * Reads a value that runs have stored for an organization under a name, as JSON text; null if there is none. The
   * organization '' means the warehouse itself.
   */
  state(orgId: string, name: string): Promise<string | null>;
  /** Stores a JSON text under a name, in place of the earlier one. */
  setState(orgId: string, name: string, value: string): Promise<void>;

  /** Stores a created session, or replaces the stored one. */
  recordSession(row: SessionRow): Promise<void>;

  startRun(run: RunStart): Promise<void>;
  endRun(run: RunEnd): Promise<void>;
  /**
   * The latest runs, newest first.
   * @param orgId only the runs of this organization. @default all runs
   */
  runs(limit: number, orgId?: string): Promise<RunRecord[]>;
  quarantineCounts(): Promise<QuarantineCount[]>;
  /** Accepts records in quarantine that were not accepted before. They stay in quarantine. Returns their number. */
  acceptQuarantine(scope: QuarantineScope, at: Date): Promise<number>;
  /**
   * The number of restatements.
   * @param orgId only those of this organization. @default all
   */
  restatementCount(orgId?: string): Promise<number>;

  /**
   * Streams all rows of a table in key order, so memory stays bounded.
   * @param columns the columns to read, in the order of the values. Default: all columns.
   */
  scan<T extends AnyTable>(
    table: T,
    scope?: ScanScope,
    columns?: readonly ColumnOf<T>[],
  ): AsyncIterable<readonly Values[]>;
  /**
   * Reads all rows of a table in a small scope, such as a day, in key order and at once. Use it while commits continue:
   * SQLite cannot commit during an unfinished {@link scan}.
   */
  rowsOf<T extends AnyTable>(
    table: T,
    scope: ScanScope,
    columns?: readonly ColumnOf<T>[],
  ): Promise<readonly Values[]>;

  /**
   * Writes and removes rows of any table unchanged, all or none. It is for moving a warehouse together with its
   * ledger. Returns how many rows were inserted, updated or deleted.
   */
  change(changes: RowChanges): Promise<number>;

  /** Runs a query that only reads. Inside {@link inSnapshot} it reads the snapshot. */
  select(query: SQL): Promise<readonly QueryRow[]>;
  /**
   * Runs steps in one transaction, which sees one state of the database.
   * @param doing the first words of an error message: `load people into`
   */
  transact<Result>(doing: string, steps: () => Steps<Result>): Promise<Result>;
  /** Runs work while no other process runs work under the same name. Waits for it; SQLite has one writer anyway. */
  oneAtATime<Result>(name: string, work: () => Promise<Result>): Promise<Result>;

  /**
   * Updates the statistics by which the database plans queries. Call after many rows were written. Changes no row.
   */
  refreshStatistics(): Promise<void>;

  /**
   * Makes sure that the database holds no value that was deleted or replaced: not in its statistics, and in SQLite not in free
   * pages or in the log either. Call it after such values are gone from every row. May be repeated.
   * @throws {BusyError} if a reader keeps SQLite from shortening its log.
   */
  forgetDeleted(): Promise<void>;

  /**
   * The damage that the database finds in its storage, one sentence each. PostgreSQL cannot check and returns `[]`.
   */
  damages(): Promise<string[]>;
  /**
   * Identifies the content of the database: as long as it is the same for this object, nothing was committed. Inside
   * {@link inSnapshot} it is the snapshot's. It may change although nothing was committed, and means nothing to others.
   */
  version(): Promise<string>;
  /** Reads in one snapshot, which does not show later commits of others. `read` must not write. */
  inSnapshot<Result>(read: () => Promise<Result>): Promise<Result>;

  /**
   * Writes one state of the whole warehouse as a single SQLite file without side files, and puts it in place at once:
   * readers see the old copy or the new one.
   * @throws {UsageError} if this database cannot do that, or if the path holds something other than such a copy.
   */
  saveCopy(path: string): Promise<SavedCopy>;

  /**
   * Removes the warehouse if this object created it and it holds nothing but traces of `runs` runs. Only `close` may
   * follow. The caller holds the run lock. False if it stays; on PostgreSQL it always stays.
   * @param runs
   * @default 1
   */
  discardNew(runs?: number): Promise<boolean>;

  close(): Promise<void>;
}

export interface LockOptions {
  /**
   * Refuse every other holder, for work on the warehouse as a whole. Without it, workers on PostgreSQL share the plan
   * by claiming units. SQLite has one holder in any case.
   * @default false
   */
  readonly exclusive?: boolean;
}

/** The right to run on a warehouse. Freed by `release`, and by the operating system when the process dies. */
export interface RunLock {
  /**
   * Claims units, so that no other worker pulls them until they are freed. A claim dies with its process. Returns the
   * ledger's rows of the units that were free, as they are after the claim. Other workers hold the rest.
   */
  claim(units: readonly UnitKey[]): Promise<LedgerUnit[]>;
  /** Claims the watch over the settled units of an organization. False while another worker has it. */
  claimWatch(orgId: string): Promise<boolean>;
  /** Frees claimed units, whether they were committed or not. */
  free(units: readonly UnitKey[]): Promise<void>;
  /** Frees everything. */
  release(): Promise<void>;
}

/** How many records are in quarantine, by organization, stream and reason. */
export interface QuarantineCount {
  readonly orgId: string;
  readonly stream: Stream;
  readonly reason: string;
  readonly records: number;
  /** How many of them a person accepted. Those no longer count for the exit code. */
  readonly accepted: number;
}

/** Which records in quarantine to accept. Without a stream: all streams. Without a day: all days. */
export interface QuarantineScope {
  readonly stream?: Stream | undefined;
  readonly day?: UtcDay | undefined;
  /** @default all organizations */
  readonly orgId?: string | undefined;
}
