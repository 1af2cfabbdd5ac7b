import type { AnyTable } from '../../schema/define.ts';
import { inKeyOrder } from '../../schema/order.ts';
import { columnsOf, keyOf, readerOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import type { ErasedPeople } from '../privacy/erased-people.ts';
import { hasSameKey, rowEraser } from './erased-rows.ts';
import type { Value, Values } from './rows.ts';

/** As `rowEraser`, for rows that were stored before the erasure: samples of unknown fields from records of people go too. */
export function rowSweeper(table: AnyTable, people: ErasedPeople): (row: Values) => Values {
  const erase = rowEraser(table, people);
  if (table !== tables.schemaDrift) return erase;
  const withoutSample = sampleEraser();
  return (row) => withoutSample(erase(row));
}

/** The rows of a table without the erased: all of them in key order, those that changed, and those whose key is gone. */
export function sweptTable(
  table: AnyTable,
  rows: readonly Values[],
  erase: (row: Values) => Values,
): {
  readonly after: readonly Values[];
  readonly put: readonly Values[];
  readonly removed: readonly Values[];
} {
  const swept = new Map<string, Values>();
  const changed = new Set<string>();
  const removed: Values[] = [];
  const key = keyOf(table);
  for (const before of rows) {
    const row = erase(before);
    const name = JSON.stringify(key(row));
    const other = swept.get(name);
    swept.set(name, other === undefined ? row : joined(table, other, row));
    if (row === before && other === undefined) continue;
    changed.add(name);
    if (!hasSameKey(table, before, row)) removed.push(before);
  }
  const put = [...changed].map((name) => swept.get(name)).filter((row) => row !== undefined);
  return { after: inKeyOrder(table, [...swept.values()]), put, removed };
}

/** Two spellings of one person had a row each. Their numbers are added, so that totals stay. */
function joined(table: AnyTable, a: Values, b: Values): Values {
  return columnsOf(table).map((name, position): Value => {
    const [left, right] = [a[position] ?? null, b[position] ?? null];
    const isSum = table.columns[name]?.additive === true;
    return isSum && typeof left === 'number' && typeof right === 'number' ? left + right : (left ?? right);
  });
}

/** Streams with records of people. */
const STREAMS_OF_PEOPLE: ReadonlySet<Value> = new Set<Value>(['users', 'tokens']);

/**
 * A sample shows an unknown field, such as a name, without the ID of the person whom it is about. So no sample from records of
 * people stays.
 */
function sampleEraser(): (row: Values) => Values {
  const [stream, sample] = [readerOf(tables.schemaDrift, 'stream'), readerOf(tables.schemaDrift, 'sample')];
  const position = columnsOf(tables.schemaDrift).indexOf('sample');
  return (row) =>
    STREAMS_OF_PEOPLE.has(stream(row)) && sample(row) !== null ? row.with(position, null) : row;
}
