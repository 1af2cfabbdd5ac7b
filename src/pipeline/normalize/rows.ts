import type { AnyTable } from '../../../schema/define.ts';
import { inKeyOrder, keyPositions } from '../../../schema/order.ts';
import { UnitError } from '../../core/errors.ts';
import type { Row, TableRows, Value } from '../../warehouse/port.ts';

/** Collects the rows of one table for one unit, each key once. */
export interface RowSet {
  /** Adds a row. One with a key that is there already is merged with it, see the two kinds of set. */
  add(row: Value[]): void;
  /** The rows in key order. */
  finish(): TableRows;
}

/** The one row that becomes of several with the same key, in the order in which they came. */
type Merge = (rows: readonly Row[]) => Value[];

function rowSet(table: AnyTable, merge: Merge): RowSet {
  // Every row of a unit has the same organization and day, so the other key columns tell them apart.
  const positions = keyPositions(table).slice(table.key[1] === 'date' ? 2 : 1);
  const single = positions.length === 1 ? positions[0] : undefined;
  const keyOf = (row: Row): Value | undefined =>
    single !== undefined ? row[single] : JSON.stringify(positions.map((position) => row[position]));
  const rows = new Map<Value | undefined, Value[]>();
  const repeated = new Map<Value | undefined, Value[][]>();
  return {
    add: (row) => {
      const key = keyOf(row);
      const first = rows.get(key);
      const same = repeated.get(key);
      if (first === undefined) rows.set(key, row);
      else if (same === undefined) repeated.set(key, [first, row]);
      else same.push(row);
    },
    finish: () => {
      for (const [key, same] of repeated) rows.set(key, merge(same));
      return { table, rows: inKeyOrder(table, [...rows.values()]) };
    },
  };
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
