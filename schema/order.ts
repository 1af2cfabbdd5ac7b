import type { AnyTable } from './define.ts';
import { positionsOf, type Values } from './row.ts';

/**
 * Compares two texts by their UTF-8 bytes, as SQLite (BINARY) and PostgreSQL (COLLATE "C") do. JavaScript compares
 * UTF-16 units, which differs where a surrogate pair meets a character from U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) {
      const pairs = Number(isSurrogate(left)) - Number(isSurrogate(right));
      return pairs !== 0 && left >= 0xd800 && right >= 0xd800 ? pairs : left - right;
    }
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Returns a comparison of rows of `table` by their keys. */
export function byKey(table: AnyTable): (a: Values, b: Values) => number {
  const positions = positionsOf(table, table.key);
  return (a, b) => {
    for (const position of positions) {
      const left = a[position];
      const right = b[position];
      if (left === right) continue;
      const order = compareUtf8(String(left), String(right));
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Sorts rows by key. Returns the same array if it is in order already, which is the usual case. */
export function inKeyOrder<Row extends Values>(table: AnyTable, rows: readonly Row[]): readonly Row[] {
  const compare = byKey(table);
  let previous: Row | undefined;
  for (const row of rows) {
    if (previous !== undefined && compare(previous, row) > 0) return [...rows].sort(compare);
    previous = row;
  }
  return rows;
}
