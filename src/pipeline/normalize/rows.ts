import type { AnyTable } from '../../../schema/define.ts';
import { inKeyOrder, keyPositions } from '../../../schema/order.ts';
import type { Row, TableRows, Value } from '../../warehouse/port.ts';

/** Collects the rows of one table for one unit, each key once. */
export interface RowSet {
  /** Adds a row. One with a key that is there already is merged with it, see the two kinds of set. */
  add(row: Value[]): void;
  /** The rows in key order. */
  finish(): TableRows;
}

/** Merges a row into the one that has its key; returns the row to keep. */
type Merge = (kept: Value[], row: Value[]) => Value[];

function rowSet(table: AnyTable, merge: Merge): RowSet {
  // Every row of a unit has the same organization and day, so the other key columns tell them apart.
  const positions = keyPositions(table).slice(table.key[1] === 'date' ? 2 : 1);
  const single = positions.length === 1 ? positions[0] : undefined;
  const keyOf = (row: Row): Value | undefined =>
    single !== undefined ? row[single] : JSON.stringify(positions.map((position) => row[position]));
  const rows = new Map<Value | undefined, Value[]>();
  return {
    add: (row) => {
      const key = keyOf(row);
      const kept = rows.get(key);
      rows.set(key, kept === undefined ? row : merge(kept, row));
    },
    finish: () => ({ table, rows: inKeyOrder(table, [...rows.values()]) }),
  };
}

/** A set in which rows with the same key are summed: numbers add up (NULL adds nothing), of texts the last one counts. */
export function summedRows(table: AnyTable): RowSet {
  const names = Object.keys(table.columns);
  const adds = names.map((name) => table.columns[name]?.kind === 'metric');
  return rowSet(table, (kept, row) =>
    kept.map((value, index) => {
      const other = row[index] ?? null;
      if (other === null) return value;
      return adds[index] === true && typeof value === 'number' && typeof other === 'number'
        ? value + other
        : other;
    }),
  );
}

/** A set for records that occur once; should one repeat, the last one counts. */
export function distinctRows(table: AnyTable): RowSet {
  return rowSet(table, (_, row) => row);
}
