import type { Result } from '../data/result.ts';
import type { Formula } from './formula.ts';

/**
 * How people see a number:
 *
 * - `count`: whole, with separators of thousands.
 * - `compact`: as `count` below a million, then in millions or billions with a unit: `518.0 M`.
 * - `millions`: in millions with one decimal; the column says M.
 * - `decimal`: up to two decimals.
 * - `share`: per cent of a ratio. `change`: the same, with a sign. `size`: the same, for a change that words call more or less.
 * - `points`: the difference of two ratios in percentage points, with a sign.
 * - `money`: two decimals; the column or the text around it names the currency.
 */
export type NumberFormat =
  | 'count'
  | 'compact'
  | 'millions'
  | 'decimal'
  | 'share'
  | 'change'
  | 'size'
  | 'points'
  | 'money';

/** A number that a page shows, and where it comes from. */
export interface ShownNumber {
  readonly kind: 'number';
  /** Null if there is none; pages show a dash, never 0. */
  readonly value: number | null;
  readonly format: NumberFormat;
  readonly formula: Formula;
  /** Why there is no value, as a sentence; shown with the dash. */
  readonly why?: string | undefined;
  /** Why the number may still change, as a sentence. Pages underline such a number with dots. */
  readonly open?: string | undefined;
}

/**
 * The number in a row of a result.
 * @param row counts from 0.
 * @param options `open`: why the number may still change; null if it is final, although other days of the result are not.
 * By default, the number is as open as its result.
 */
export function cellOf(
  result: Result,
  row: number,
  format: NumberFormat,
  { column, why, open }: { column?: string; why?: string | undefined; open?: string | null | undefined } = {},
): ShownNumber {
  const value = result.rows[row]?.[column ?? 'value'];
  return {
    kind: 'number',
    value: typeof value === 'number' ? value : null,
    format,
    formula: { op: 'cell', result: result.id, row, column: column ?? result.column ?? 'value' },
    why,
    open: open === undefined ? openness(result) : (open ?? undefined),
  };
}

/** The relative change from one number to another. It has no value if one of them has none, or if `before` is 0. */
export function changeOf(now: ShownNumber, before: ShownNumber, why?: string): ShownNumber {
  const value =
    why !== undefined || now.value === null || before.value === null || before.value === 0
      ? null
      : (now.value - before.value) / before.value;
  return {
    kind: 'number',
    value,
    format: 'change',
    formula: { op: 'change', of: [now.formula, before.formula] },
    why: why ?? (value === null ? 'there is nothing to compare with' : undefined),
    open: now.open ?? before.open,
  };
}

/** One number less another. It has no value if one of them has none. */
export function differenceOf(a: ShownNumber, b: ShownNumber, format: NumberFormat = a.format): ShownNumber {
  const value = a.value === null || b.value === null ? null : a.value - b.value;
  return {
    kind: 'number',
    value,
    format,
    formula: { op: 'difference', of: [a.formula, b.formula] },
    why: value === null ? (a.why ?? b.why ?? 'there is nothing to compare with') : undefined,
    open: a.open ?? b.open,
  };
}

/** A number that does not exist, with the reason as a sentence. */
export function noNumber(why: string, format: NumberFormat = 'count'): ShownNumber {
  return { kind: 'number', value: null, format, formula: { op: 'sum', of: [] }, why };
}

/** One number as a share of another, 0 to 1. */
export function shareOf(part: ShownNumber, whole: ShownNumber): ShownNumber {
  const value =
    part.value === null || whole.value === null || whole.value === 0 ? null : part.value / whole.value;
  return {
    kind: 'number',
    value,
    format: 'share',
    formula: { op: 'share', of: [part.formula, whole.formula] },
    why: value === null ? 'there is nothing to divide by' : undefined,
    open: part.open ?? whole.open,
  };
}

/** The sum of numbers; of those that have a value. */
export function sumOf(numbers: readonly ShownNumber[], format: NumberFormat): ShownNumber {
  const values = numbers.flatMap(({ value }) => value ?? []);
  return {
    kind: 'number',
    value: values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0),
    format,
    formula: { op: 'sum', of: numbers.map(({ formula }) => formula) },
    why: values.length === 0 ? 'no value is stored' : undefined,
    open: numbers.find(({ open }) => open !== undefined)?.open,
  };
}

/** The sum of numbers, which has no value if one of them has none: a cost without a price is not 0. */
export function wholeSumOf(numbers: readonly ShownNumber[], format: NumberFormat): ShownNumber {
  const unknown = numbers.find(({ value }) => value === null);
  return unknown === undefined
    ? sumOf(numbers, format)
    : noNumber(unknown.why ?? 'a part is not known', format);
}

/** The number of days of a result in a certain condition. */
export function daysOf(result: Result, which: 'expected' | 'settled' | 'unsettled' | 'missing'): ShownNumber {
  const days = result.basis.days;
  const counts = {
    expected: days.expected,
    settled: days.settled,
    unsettled: days.unsettled.length,
    missing: days.missing.length,
  };
  return {
    kind: 'number',
    value: counts[which],
    format: 'count',
    formula: { op: 'days', result: result.id, which },
  };
}

/** Why the numbers of a result may still change; undefined if all of its days are settled. */
export function openness({ basis: { days } }: Pick<Result, 'basis'>): string | undefined {
  return opennessOf(days.expected, days.unsettled.length, days.missing.length);
}

/** Why a number that rests on some days may still change; undefined if all of them are settled. */
export function opennessOf(expected: number, unsettled: number, missing: number): string | undefined {
  if (expected === 1 && unsettled + missing === 1)
    return `the day is ${missing === 1 ? 'missing' : 'not settled'}`;
  const of = `of ${expected} days`;
  const reasons = [
    ...(unsettled === 0 ? [] : [`${unsettled} ${of} ${unsettled === 1 ? 'is' : 'are'} not settled`]),
    ...(missing === 0 ? [] : [`${missing} ${of} ${missing === 1 ? 'is' : 'are'} missing`]),
  ];
  return reasons.length === 0 ? undefined : reasons.join(', ');
}
