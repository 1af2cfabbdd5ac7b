import type { AnyTable } from '../../../schema/define.ts';
import { byKey, inKeyOrder, keyPositions } from '../../../schema/order.ts';
import { UnitError } from '../../core/errors.ts';
import {
  decodeRows,
  type EncodedRows,
  encodeRows,
  type Row,
  RowEncoder,
  type Value,
} from '../../warehouse/port.ts';

/** Collects the rows of one table for one unit, each key once. */
export interface RowSet {
  /** Adds a row. One with a key that is there already is merged with it, see the two kinds of set. */
  add(row: Value[]): void;
  /** Adds rows that come in no order of their own, such as those of one element of a list. */
  addAll(rows: Value[][]): void;
  /** The rows in key order. */
  finish(): EncodedRows;
}

/** The one row that becomes of several with the same key, in the order in which they came. */
type Merge = (rows: readonly Row[]) => Value[];

/** Rows that come in key order, each key once, are encoded and let go; from the first on that does not, all are kept. */
function rowSet(table: AnyTable, merge: Merge): RowSet {
  const compare = byKey(table);
  const ordered = new RowEncoder(table);
  let last: Row | undefined;
  let merged: MergedRows | undefined;
  const add = (row: Value[]) => {
    if (merged === undefined && (last === undefined || compare(last, row) < 0)) {
      last = row;
      ordered.add(row);
      return;
    }
    merged ??= new MergedRows(table, merge, decodeRows(ordered.finish()).rows);
    merged.add(row);
  };
  return {
    add,
    addAll: (rows) => {
      for (const row of rows.length > 1 ? rows.sort(compare) : rows) add(row);
    },
    finish: () => merged?.finish() ?? ordered.finish(),
  };
}

/** Rows in any order, those with the same key together. */
class MergedRows {
  readonly #table: AnyTable;
  readonly #merge: Merge;
  readonly #positions: readonly number[];
  readonly #rows = new Map<string, Row[]>();

  constructor(table: AnyTable, merge: Merge, rows: readonly Row[]) {
    this.#table = table;
    this.#merge = merge;
    this.#positions = keyPositions(table);
    for (const row of rows) this.add(row);
  }

  add(row: Row): void {
    const key = JSON.stringify(this.#positions.map((position) => row[position]));
    const same = this.#rows.get(key);
    if (same === undefined) this.#rows.set(key, [row]);
    else same.push(row);
  }

  finish(): EncodedRows {
    const rows = [...this.#rows.values()].map((same) => (same.length === 1 && same[0]) || this.#merge(same));
    return encodeRows({ table: this.#table, rows: inKeyOrder(this.#table, rows) });
  }
}

/**
 * A set in which rows with the same key are summed: numbers add up (NULL adds nothing), of texts the greatest counts.
 * A list has no order that means something, so the result does not depend on it.
 */
export function summedRows(table: AnyTable): RowSet {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  return rowSet(table, (rows) =>
    kinds.map((kind, index) => {
      const values = rows.map((row) => row[index] ?? null);
      return kind === 'metric' ? sumOf(values) : greatestOf(values);
    }),
  );
}

/** A set for records that occur once; should one repeat, the last one counts. */
export function distinctRows(table: AnyTable): RowSet {
  return rowSet(table, (rows) => [...(rows.at(-1) ?? [])]);
}

/** The sum of numbers, the same for any order of them; NULL adds nothing, and is the sum of nothing else. */
export function sumOf(values: readonly Value[]): number | null {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) return null;
  // Sums of fractions depend on their order.
  const total = numbers.sort((a, b) => a - b).reduce((sum, value) => sum + value, 0);
  if (numbers.length === 1 || Math.abs(total) <= Number.MAX_SAFE_INTEGER) return total;
  throw new UnitError(
    `the sum of ${numbers.length} values with the same key, about ${total}, cannot be kept exactly`,
    {
      hint: 'the answer is not plausible; nothing of the unit was stored',
    },
  );
}

/** The greatest of values of one type; NULL where there is none. */
export function greatestOf(values: readonly Value[]): Value {
  return values.reduce(
    (best, value) => (best === null || (value !== null && value > best) ? value : best),
    null,
  );
}
