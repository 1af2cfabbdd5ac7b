import type { Database } from 'better-sqlite3';
import type { Value, Values } from '../port.ts';

/** The SQL function that receives the values of a row. It returns true when enough rows have come. */
const TAKE = 'daywalk_take';

/** A read whose rows go to the function. */
export interface TakenRead {
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
export function* takenRows(
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
