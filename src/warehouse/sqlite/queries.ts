import { compileQuery, type SQL } from '../../../schema/query.ts';
import type { QueryRow, Steps } from '../port.ts';
import type { Connection } from './connection.ts';
import { WRITING_CACHE_KIB } from './open-file.ts';
import { putRows } from './rows.ts';

/** See `Warehouse.select`. */
export function select({ db }: Connection, query: SQL): readonly QueryRow[] {
  const { text, values } = compileQuery(query, 'sqlite');
  return db.prepare<unknown[], QueryRow>(text).all(...values);
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

/** Runs the steps of a transaction, see `Warehouse.transact`. Call inside a transaction. */
export function runSteps<Result>(connection: Connection, steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) {
    if ('table' in step.value) {
      putRows(connection, step.value);
      step = steps.next([]);
    } else step = steps.next(runStatement(connection, step.value));
  }
  return step.value;
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
