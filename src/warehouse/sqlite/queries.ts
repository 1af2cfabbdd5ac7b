import type { Database } from 'better-sqlite3';
import type { AnyTable } from '../../../schema/define.ts';
import { compileQuery, type SQL } from '../../../schema/query.ts';
import { keyOf, type Value, type Values } from '../../../schema/row.ts';
import { storageError } from '../../core/sqlite-files.ts';
import {
  isStatement,
  type LedgerStep,
  type LedgerSteps,
  type QueryRow,
  type ScanScope,
  scanRowsMax,
  writtenRows,
} from '../../port/index.ts';
import type { Connection } from './connection.ts';
import { WRITING_CACHE_KIB } from './file.ts';
import { addRows, findRows, putRows, removeRows, selectWhere, writeDays } from './write-rows.ts';

/** See `Warehouse.select`. */
export function select(connection: Connection, query: SQL): readonly QueryRow[] {
  return selectText(connection, compileQuery(query, 'sqlite'));
}

/** As {@link select}, for a query that is compiled. */
export function selectText(
  connection: Connection,
  { text, values }: ReturnType<typeof compileQuery>,
): readonly QueryRow[] {
  return connection.read('read', () => connection.db.prepare<unknown[], QueryRow>(text).all(...values));
}

/**
 * See `Warehouse.version`. The pragma changes with the commits of other connections, the count with the changes of this
 * one.
 */
export function versionOf({ db }: Connection): string {
  const others = db.pragma('data_version', { simple: true });
  const own = db.prepare<[], number>('SELECT total_changes()').pluck().get();
  return `${String(others)} ${String(own)}`;
}

/** Runs the steps of a transaction, see `Warehouse.transact`. Call steps that write inside a transaction. */
export function runSteps<Result>(connection: Connection, steps: LedgerSteps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next(answerOf(connection, step.value));
  return step.value;
}

function answerOf(connection: Connection, step: LedgerStep): readonly QueryRow[] {
  if (isStatement(step)) return runStatement(connection, step);
  if ('days' in step) return writeDays(connection, step.days).map((written) => ({ written }));
  if ('rows' in step) return writtenRows(putRows(connection, step));
  if ('find' in step) return findRows(connection, step);
  if ('remove' in step) return writtenRows(removeRows(connection, step));
  if ('add' in step) return writtenRows(addRows(connection, step));
  if ('each' in step) for (const rows of chunksOf(connection, step.table, step)) step.each(rows);
  // The one writer needs no locks, and nobody else can hold its units.
  return [];
}

/** Rollups sort the rows of a month. Beyond the size of the cache, SQLite writes what it sorts to a temporary file. */
const SORTING_CACHE_KIB = 16_000;

/** Runs work with a page cache in which much can be sorted. */
export function withRoomToSort<Result>({ db }: Connection, work: () => Result): Result {
  db.pragma(`cache_size = -${SORTING_CACHE_KIB}`);
  try {
    return work();
  } finally {
    db.pragma(`cache_size = -${WRITING_CACHE_KIB}`);
  }
}

function runStatement({ db }: Connection, query: SQL): readonly QueryRow[] {
  const { text, values } = compileQuery(query, 'sqlite');
  const statement = db.prepare<unknown[], QueryRow>(text);
  if (statement.reader) return statement.all(...values);
  statement.run(...values);
  return [];
}

/** All rows of a table in key order, streamed, see `Warehouse.scan`. */
export async function* scan(
  connection: Connection,
  table: AnyTable,
  scope?: ScanScope,
  columns?: readonly string[],
): AsyncGenerator<readonly Values[]> {
  try {
    yield* chunksOf(connection, table, scope, columns);
  } catch (error) {
    throw storageError(error, `read ${table.name} of`, connection.path);
  }
}

/** All rows of a table in key order at once, see `Warehouse.rowsOf`. */
export function readRows(
  connection: Connection,
  table: AnyTable,
  scope: ScanScope,
  columns?: readonly string[],
): Promise<readonly Values[]> {
  return connection.readInTurn(`read ${table.name} of`, () =>
    [...chunksOf(connection, table, scope, columns)].flat(),
  );
}

function chunksOf(
  { db }: Connection,
  table: AnyTable,
  scope: ScanScope | undefined,
  columns: readonly string[] = Object.keys(table.columns),
): Generator<readonly Values[]> {
  const conditions = conditionsOf(table, scope);
  const sql = selectWhere(
    table,
    conditions.map(([condition]) => condition),
    columns,
  );
  const values = conditions.flatMap(([, value]) => value);
  return takenRows(db, { sql, columns, values, rowsMax: scanRowsMax(table) });
}

function conditionsOf(
  table: AnyTable,
  scope: ScanScope | undefined,
): [condition: string, values: readonly Value[]][] {
  if (scope === undefined) return [];
  const { orgId, firstDay, lastDay, after } = scope;
  const days: [string, string | undefined][] = [
    ['"org_id" = ?', orgId],
    ['"date" >= ?', firstDay],
    ['"date" <= ?', lastDay],
  ];
  const conditions = days.flatMap(([condition, value]): [string, Value[]][] =>
    value === undefined ? [] : [[condition, [value]]],
  );
  if (after === undefined) return conditions;
  const [names, places] = [table.key.map((name) => `"${name}"`), table.key.map(() => '?')];
  return [...conditions, [`(${names.join(', ')}) > (${places.join(', ')})`, keyOf(table)(after)]];
}

/** The SQL function that receives the values of a row. It returns true when enough rows have come. */
const TAKE = 'daywalk_take';

/** A read whose rows go to the function. */
interface TakenRead {
  /** A SELECT with ordered rows. */
  readonly sql: string;
  readonly columns: readonly string[];
  /** The values of its parameters. */
  readonly values: readonly unknown[];
  /** Rows per chunk. */
  readonly rowsMax: number;
}

interface Taker {
  readonly rowsMax: number;
  rows: Values[];
}

const takersOf = new WeakMap<Database, Map<Value, Taker>>();
let lastNumber = 0;

/**
 * Reads rows in chunks. SQLite passes each row to a function as its arguments. This takes a third to half of the time
 * that better-sqlite3 needs to make an array value by value.
 */
function* takenRows(
  db: Database,
  { sql, columns, values, rowsMax }: TakenRead,
): Generator<readonly Values[]> {
  const takers = takersIn(db);
  lastNumber += 1;
  const number = lastNumber;
  const taker: Taker = { rowsMax, rows: [] };
  takers.set(number, taker);
  const names = columns.map((name) => `"${name}"`).join(', ');
  try {
    // LIMIT keeps the condition outside of the inner query, so that it sees the rows in order.
    const read = db.prepare(`SELECT 1 FROM (${sql} LIMIT -1) WHERE ${TAKE}(${number}, ${names})`);
    for (const _ of read.iterate(...values)) yield takeChunk(taker);
    if (taker.rows.length > 0) yield takeChunk(taker);
  } finally {
    takers.delete(number);
  }
}

function takeChunk(taker: Taker): readonly Values[] {
  const { rows } = taker;
  taker.rows = [];
  return rows;
}

function takersIn(db: Database): Map<Value, Taker> {
  const known = takersOf.get(db);
  if (known !== undefined) return known;
  const takers = new Map<Value, Taker>();
  takersOf.set(db, takers);
  db.function(TAKE, { varargs: true, directOnly: true }, (number: Value, ...row: Value[]) => {
    const taker = takers.get(number);
    if (taker === undefined) return 0;
    taker.rows.push(row);
    return Number(taker.rows.length === taker.rowsMax);
  });
  return takers;
}
