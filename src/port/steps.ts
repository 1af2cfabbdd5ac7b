import type { AnyTable } from '../../schema/define.ts';
import { SQL } from '../../schema/query.ts';
import { keyOf, type TableRows, type Value, type Values } from '../../schema/row.ts';

/** A row that a query returned: its values by the names of the columns. */
export type QueryRow = Readonly<Record<string, Value>>;

/** Rows to insert if their keys are not stored. The answer counts them, see {@link countWritten}. */
export interface NewRows {
  readonly table: AnyTable;
  readonly add: readonly Values[];
}

/**
 * Rows to delete, named by the first columns of their keys. All have the same number of values. The answer counts the rows that
 * there were, see {@link countWritten}.
 */
export interface GoneRows {
  readonly table: AnyTable;
  readonly remove: readonly Values[];
}

/** Rows to read, named as in {@link GoneRows}; all of one organization. Those of one name come in key order. */
export interface FoundRows {
  readonly table: AnyTable;
  readonly find: readonly Values[];
  readonly columns: readonly string[];
}

/** All rows of an organization, in key order and in chunks, so that few are in memory. The answer is empty. */
interface EachRow {
  readonly table: AnyTable;
  readonly orgId: string;
  each(rows: readonly Values[]): void;
}

/** Names that other transactions must not lock until this one ends. SQLite has one writer anyway. */
export interface Locked {
  readonly lock: readonly (readonly string[])[];
}

/** A table that nobody else writes until this transaction ends. */
interface FrozenTable {
  readonly freeze: AnyTable;
}

/** What a transaction does next. */
export type Step = SQL | TableRows | NewRows | GoneRows | FoundRows | EachRow | Locked | FrozenTable;

/**
 * The steps of a transaction, written once for every database: a generator that yields statements, and rows to insert or
 * update, and receives the rows that each statement returned. It may run again from the start after a conflict, so it must
 * read all that it needs from the database.
 *
 * @example
 * function* clearPrices(orgId: string): Steps<void> {
 *   const [row] = yield sql`SELECT COUNT(*) AS stored FROM prices WHERE org_id = ${orgId}`;
 *   if (row?.['stored'] !== 0) yield sql`DELETE FROM prices WHERE org_id = ${orgId}`;
 * }
 */
export type Steps<Result> = Generator<Step, Result, readonly QueryRow[]>;

/** What databases answer to a step that writes rows of a table. */
export function writtenRows(written: number): readonly QueryRow[] {
  return [{ written }];
}

/** Takes a step that writes rows of a table. Returns how many were inserted, updated or deleted; equal rows are not written. */
export function* countWritten(step: TableRows | NewRows | GoneRows): Steps<number> {
  const [row] = yield step;
  return Number(row?.['written'] ?? 0);
}

/** Rows to write and remove unchanged, see {@link changeRows}. */
export interface RowChanges {
  /** Whole rows to insert, or to update if they differ. */
  readonly put: readonly TableRows[];
  /** Rows to delete if they exist. Only the key columns count; the others may be null. */
  readonly remove: readonly TableRows[];
}

/**
 * What the steps of a transaction see: `one-state`, the database as it was at the beginning, or `latest`, in each step what
 * others have committed by then. SQLite has one writer, so both are the same.
 */
export type Seeing = 'one-state' | 'latest';

/**
 * Writes and removes rows of any table unchanged, all or none. It is for moving a warehouse together with its ledger. Returns how
 * many rows were inserted, updated or deleted.
 */
export function changeRows(
  warehouse: { transact<R>(doing: string, steps: () => Steps<R>, seeing: Seeing): Promise<R> },
  { put, remove }: RowChanges,
): Promise<number> {
  const steps = function* (): Steps<number> {
    let written = 0;
    for (const { table, rows } of remove)
      written += yield* countWritten({ table, remove: rows.map(keyOf(table)) });
    for (const part of put) written += yield* countWritten(part);
    return written;
  };
  return warehouse.transact('move rows into', steps, 'latest');
}

/** Reads with the steps of a transaction. */
export async function runReads<Result>(
  warehouse: { select(query: SQL): Promise<readonly QueryRow[]> },
  steps: Steps<Result>,
): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    if (!isStatement(step.value)) throw new TypeError('steps that only read have yielded another step');
    step = steps.next(await warehouse.select(step.value));
  }
  return step.value;
}

/** True for a statement in SQL. */
export function isStatement(step: object): step is SQL {
  return step instanceof SQL;
}

/** Maximum number of rows in a chunk of a scan. */
const ROWS = 1000;
/** The same for tables in which one row may hold a whole record of the service or of a client, up to 8 MB. */
const RECORD_ROWS = 32;

/** Maximum number of rows in memory during a scan of a table. It is smaller for tables with large rows. */
export function scanRowsMax(table: AnyTable): number {
  return Object.values(table.columns).some(({ kind }) => kind === 'record') ? RECORD_ROWS : ROWS;
}
