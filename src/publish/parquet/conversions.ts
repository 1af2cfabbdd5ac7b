import type { Value } from '../../warehouse/port.ts';
import type { LakeType } from './column.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A value of the warehouse as the number that stands for it in a file; undefined for one that does not belong there. */
export type Conversion = (value: Value) => number | null | undefined;

/** The conversion of the values of one column, in their order. */
export function conversionOf(type: Exclude<LakeType, 'double' | 'string' | 'list'>): Conversion {
  switch (type) {
    case 'date':
      return dateConversion();
    case 'timestamp':
      return millisOf;
    case 'integer':
      return (value) => (Number.isSafeInteger(value) ? Number(value) : undefined);
    case 'boolean':
      return (value) => (typeof value === 'number' ? Number(value !== 0) : undefined);
  }
}

/** Days since 1970; null for ''. Rows come day by day, so the last answer is nearly always the next one too. */
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
