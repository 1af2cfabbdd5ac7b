import type { AnyTable } from '../../schema/define.ts';
import { canonicalText } from '../core/json-text.ts';
import type { Value, Values } from '../warehouse/port.ts';

/** Returns a test for equal rows of `table`. JSON is compared by value, because a database may store another text for it. */
export function sameRow(table: AnyTable): (a: Values, b: Values) => boolean {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  return (a, b) =>
    kinds.every((kind, index) => {
      const [left, right] = [a[index], b[index]];
      return left === right || (kind === 'json' && canonicalValue(left) === canonicalValue(right));
    });
}

/** Returns a function that puts the JSON of a row into canonical form, so that equal rows have equal digests. */
export function canonicalRow(table: AnyTable): (row: Values) => Values {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  if (!kinds.includes('json')) return (row) => row;
  return (row) => row.map((value, index) => (kinds[index] === 'json' ? canonicalValue(value) : value));
}

function canonicalValue(value: Value | undefined): Value {
  return typeof value === 'string' ? canonicalText(value) : (value ?? null);
}
