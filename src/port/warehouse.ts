import type { AnyTable } from '../../schema/define.ts';
import { compileQuery, type Dialect, type SQL } from '../../schema/query.ts';
import type { ColumnOf, Values } from '../../schema/row.ts';
import type { UtcDay } from '../core/day.ts';
import type { CommitOutcome, DayCommit, LedgerUnit, UnitKey } from '../units/index.ts';
import { type QueryRow, runReads, type Seeing, type Step, type Steps } from './steps.ts';

/** The steps of a transaction that also checks claims and writes days. */
export type LedgerSteps<Result> = Generator<LedgerStep, Result, readonly QueryRow[]>;

/** What a transaction of the ledger does next. */
export type LedgerStep = Step | HeldUnits | WrittenDays;

/** Units that this process must still hold, or another worker may have taken them: if it does not, the step throws `ClaimLostError`. */
interface HeldUnits {
  readonly held: readonly UnitKey[];
}

/**
 * Days of one organization whose rows become exactly those of the commits. The answer counts the rows written for each, in their
 * order, as after {@link TableRows}. It is the step that every database takes in its own, fastest way.
 */
interface WrittenDays {
  readonly days: readonly DayCommit[];
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

/**
 * Under this name, `export_state` says what a warehouse is being filled with: the ID of a backup, or its file; or the warehouse that
 * is copied, as an object. Until that is complete, nobody may take the part for the whole.
 */
export const RESTORING = 'restoring';

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
  /**
   * True if a run or other work holds the run lock, or if that cannot be found out: on a standby, or without the right to write
   * the file of the lock.
   */
  isLocked(): Promise<boolean>;

  /**
   * Stores several days of one organization in one transaction, see `commitDays` in `ledger.ts`. Repeating a commit writes no fact
   * row.
   */
  commitDays(commits: readonly DayCommit[]): Promise<CommitOutcome[]>;

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

  /** Runs a query that only reads. Inside {@link inSnapshot} it reads the snapshot. */
  select(query: SQL): Promise<readonly QueryRow[]>;
  /** Runs a few short steps that only read, on the connection that writes: it is open already, and repeated if it is lost. */
  read<Result>(steps: () => Steps<Result>): Promise<Result>;
  /**
   * Runs steps in one transaction.
   * @param doing the first words of an error message: `load people into`
   * @param seeing
   * @default 'one-state'
   */
  transact<Result>(doing: string, steps: () => LedgerSteps<Result>, seeing?: Seeing): Promise<Result>;
  /** Runs work while no other process runs work under the same name. Waits for it; SQLite has one writer anyway. */
  oneAtATime<Result>(name: string, work: () => Promise<Result>): Promise<Result>;

  /**
   * Updates the statistics by which the database plans queries, of tables that have none or have grown much since: on
   * PostgreSQL, by more than a tenth. Call after rows were written. Changes no row.
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
  /**
   * True once what it held was lost with a connection. If another server has taken over then, it may lack what was committed
   * before.
   */
  wasLost(): boolean;
  /** Frees claimed units, whether they were committed or not. */
  free(units: readonly UnitKey[]): Promise<void>;
  /** Frees everything. */
  release(): Promise<void>;
}

/** Warehouses that show one content as long as they exist: what follows from it need not be worked out again. */
export const unchanging = new WeakSet<object>();

/** The most rows that are remembered, so that memory stays bounded. One answer with more is not remembered. */
const ROWS_MAX = 20_000;

/**
 * The same warehouse, asking for the same thing once. Use it inside snapshots of one content only, see `Warehouse.version`.
 * Remembers what queries returned. One that remembers already is returned as it is.
 */
export function frozen(outer: Warehouse): Warehouse {
  if (unchanging.has(outer)) return outer;
  const memory = createMemory();
  const select: Warehouse['select'] = (query) => {
    const { text, values } = compileQuery(query, outer.dialect);
    return memory(`${text} ${JSON.stringify(values)}`, () => outer.select(query));
  };
  const own: Warehouse = {
    ...outer,
    inSnapshot: (read) => read(),
    select,
    read: (steps) => runReads({ select }, steps()),
  };
  unchanging.add(own);
  return own;
}

/** Remembers lists by their names. */
function createMemory() {
  const known = new Map<string, Promise<readonly unknown[]>>();
  let rows = 0;
  return async <List extends readonly unknown[]>(name: string, read: () => Promise<List>): Promise<List> => {
    const earlier = known.get(name);
    // The name decides the type: each kind of list begins its names in its own way.
    if (earlier !== undefined) return (await earlier) as List;
    const list = read();
    known.set(name, list);
    const forget = () => known.delete(name);
    const { length } = await list.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (length > ROWS_MAX) forget();
    else rows += length + 1;
    if (rows > ROWS_MAX) {
      known.clear();
      rows = 0;
    }
    return list;
  };
}
