import type { AnyTable } from '../../schema/define.ts';
import { canonicalText } from '../core/json-text.ts';
import type { Row, Value } from '../warehouse/port.ts';

/** Whether two rows of `table` hold the same. JSON is compared as the value that it is: a database may write it anew. */
export function sameRow(table: AnyTable): (a: Row, b: Row) => boolean {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  return (a, b) =>
    kinds.every((kind, index) => {
      const [left, right] = [a[index], b[index]];
      return left === right || (kind === 'json' && canonicalValue(left) === canonicalValue(right));
    });
}

/** The same row with its JSON in canonical form, so that rows that are the same have the same digest. */
export function canonicalRow(table: AnyTable): (row: Row) => Row {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  if (!kinds.includes('json')) return (row) => row;
  return (row) => row.map((value, index) => (kinds[index] === 'json' ? canonicalValue(value) : value));
}

function canonicalValue(value: Value | undefined): Value {
  return typeof value === 'string' ? canonicalText(value) : (value ?? null);
}
