import type { AnyTable } from '../../../schema/define.ts';
import { decodeRows, type EncodedRows, encodeRows, RowEncoder } from '../../../schema/digest.ts';
import { byKey, inKeyOrder, keyOf, type Value, type Values } from '../../../schema/row.ts';
import { UnitError } from '../../core/errors.ts';

/** Collects the rows of one table for one unit, each key once. */
interface RowSet {
  /** Adds a row. It is merged with the rows of the same key, see {@link summedRows} and {@link distinctRows}. */
  add(row: Values): void;
  /** Adds rows in any order, such as those of one element of a list. */
  addAll(rows: Values[]): void;
  /** The rows in key order. */
  finish(): EncodedRows;
}

/** Merges the rows of one key, in the order in which they were added, into one row. */
type Merge = (rows: readonly Values[]) => Values;

// Rows usually come in key order, each key once. As long as they do, they are encoded and released. From the first row that
// does not, all rows are kept.
function rowSet(table: AnyTable, merge: Merge): RowSet {
  const compare = byKey(table);
  const ordered = new RowEncoder(table);
  let last: Values | undefined;
  let merged: MergedRows | undefined;
  const add = (row: Values) => {
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

/** Rows in any order, grouped by their keys. */
class MergedRows {
  readonly #table: AnyTable;
  readonly #merge: Merge;
  readonly #keyOf: (row: Values) => Value[];
  readonly #rows = new Map<string, Values[]>();

  constructor(table: AnyTable, merge: Merge, rows: readonly Values[]) {
    this.#table = table;
    this.#merge = merge;
    this.#keyOf = keyOf(table);
    for (const row of rows) this.add(row);
  }

  add(row: Values): void {
    const key = JSON.stringify(this.#keyOf(row));
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
 * A set that sums rows with the same key: numbers add up, NULL adds nothing, and the greatest of several texts counts. The
 * order of a list in an answer means nothing, so the result does not depend on it.
 */
export function summedRows(table: AnyTable): RowSet {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  return rowSet(table, (rows) =>
    kinds.map((kind, position) => {
      const values = rows.map((row) => row[position] ?? null);
      return kind === 'metric' ? sumOf(values) : greatestOf(values);
    }),
  );
}

/** A set for records that occur once. If one repeats, the last one counts. */
export function distinctRows(table: AnyTable): RowSet {
  return rowSet(table, (rows) => rows.at(-1) ?? []);
}

/** The sum of numbers, the same for any order. NULL adds nothing; the sum of no numbers is NULL. */
export function sumOf(values: readonly Value[]): number | null {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) return null;
  // The sum of fractions depends on their order.
  const total = numbers.sort((a, b) => a - b).reduce((sum, value) => sum + value, 0);
  if (numbers.length === 1 || Math.abs(total) <= Number.MAX_SAFE_INTEGER) return total;
  throw new UnitError(
    `the sum of ${numbers.length} values with the same key, about ${total}, cannot be kept exactly`,
    {
      hint: 'the answer is not plausible; nothing of the unit was stored',
    },
  );
}

/** The greatest of several values of one type; NULL if all are NULL. */
export function greatestOf<Type extends Value>(values: readonly (Type | null)[]): Type | null {
  let greatest: Type | null = null;
  for (const value of values) if (value !== null && (greatest === null || value > greatest)) greatest = value;
  return greatest;
}
