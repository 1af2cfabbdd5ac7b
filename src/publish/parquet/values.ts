import type { Value } from '../../warehouse/port.ts';
import type { LakeType } from './column.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A value as hyparquet-writer takes it: days since 1970 for a date, milliseconds since then for a timestamp. */
export type LakeValue = string | number | bigint | boolean | readonly string[] | null;

/**
 * Converts a value of the warehouse to the type of its column in a lake. Returns undefined for a value that does not
 * belong in such a column, and null for the empty day of a readiness unit.
 */
export type Conversion = (value: Value) => LakeValue | undefined;

/** Returns the conversion for one column; call it with the column's values in their order. */
export function conversionOf(type: Exclude<LakeType, 'list'>): Conversion {
  switch (type) {
    case 'string':
      return (value) => (typeof value === 'string' ? value : undefined);
    case 'double':
      // Adding 0 turns -0 into 0: the dictionary of a column has one zero, which otherwise depends on the order of the rows.
      return (value) => (typeof value === 'number' ? value + 0 : undefined);
    case 'integer':
      return (value) => (Number.isSafeInteger(value) ? BigInt(Number(value)) : undefined);
    case 'boolean':
      return (value) => (typeof value === 'number' ? value !== 0 : undefined);
    case 'date':
      return dateConversion();
    case 'timestamp':
      return millisOf;
  }
}

/** Rows come day by day, so the next result is nearly always the same as the last one. */
function dateConversion(): Conversion {
  let last: Value = '';
  let days: number | null | undefined = null;
  return (value) => {
    if (value !== last) {
      last = value;
      days = daysOf(value);
    }
    return days;
  };
}

function daysOf(value: Value): number | null | undefined {
  if (value === '') return null;
  const millis = millisOf(`${value}T00:00:00.000Z`);
  return millis === undefined ? undefined : millis / DAY_MS;
}

function millisOf(value: Value): number | undefined {
  const millis = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(millis) ? undefined : millis;
}
