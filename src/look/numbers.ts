import type { UtcDay } from '../core/day.ts';
import type { CoveredDays, MetricRow, readProvenance } from '../metrics/index.ts';
import type { QueryRow } from '../port/index.ts';

/** What numbers rest on: the days of a period, how well the ledger knows them, and the run that changed them last. */
export interface Basis {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly days: CoveredDays;
  /** Those of the unsettled days that are old, and will probably settle as they are. @default none */
  readonly firstLooks?: Awaited<ReturnType<typeof readProvenance>>['firstLooks'];
  /** Null if no run is recorded. */
  readonly run: { readonly id: string; readonly endedAt: string | null } | null;
}

/** The answer to one query of a page. */
export interface Result<Row extends QueryRow = QueryRow> {
  /** Name on this page: `q1`, `q2`, … in the order of the questions. Formulas use it. */
  readonly id: string;
  /** What the query answers, for the list of queries. */
  readonly title: string;
  /** The query with its values as literals; it gives the same rows in the same order. */
  readonly sql: string;
  readonly rows: readonly Row[];
  /** The column of the query that has the `value` of a row, because a query can answer several metrics. @default value */
  readonly column?: string;
  /** For example credits, users, EUR or ratio; null if the query is not a metric. */
  readonly unit: string | null;
  readonly basis: Basis;
  /** What limits the numbers, one sentence each. */
  readonly warnings: readonly string[];
}

/** The answer to a question about a metric. */
export type MetricResult = Result<MetricRow>;

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

/** The days whose numbers are drawn as open: the unsettled ones, without those that were old when they were first seen. */
export function openDaysOf({ days, firstLooks }: Basis): readonly UtcDay[] {
  return days.unsettled.filter((day) => firstLooks?.days.has(day) !== true);
}

/** Why the numbers of a result may still change; undefined if all of its days are settled, or in their first looks. */
function openness({ basis }: Pick<Result, 'basis'>): string | undefined {
  return opennessOf(basis.days.expected, openDaysOf(basis).length, basis.days.missing.length);
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

/**
 * How a number on a page follows from the results of its queries. Every number carries its formula into the markup, so
 * that a reader, or a test, can recompute it from the SQL that the page shows.
 */
export type Formula =
  /** The value of a column in a row of a result. Rows count from 0. */
  | { readonly op: 'cell'; readonly result: string; readonly row: number; readonly column: string }
  /** The number of rows of a result. */
  | { readonly op: 'rows'; readonly result: string }
  /** Over the operands that have a value; none if no operand has one. */
  | { readonly op: 'sum' | 'mean' | 'min' | 'max'; readonly of: readonly Formula[] }
  /** The number of days of a result that are `unsettled` or `missing`: see the page's query for its days. */
  | {
      readonly op: 'days';
      readonly result: string;
      readonly which: 'expected' | 'settled' | 'unsettled' | 'missing';
    }
  /** `change`: (a − b) ÷ b. `difference`: a − b. `share`: a ÷ b. None if an operand has no value, or a divisor is 0. */
  | { readonly op: 'change' | 'difference' | 'share'; readonly of: readonly [Formula, Formula] };

/** The formula as the markup holds it, for example `change(q3[0].value,q4[0].value)`. */
export function formulaText(formula: Formula): string {
  switch (formula.op) {
    case 'cell':
      return `${formula.result}[${formula.row}].${formula.column}`;
    case 'rows':
      return `rows(${formula.result})`;
    case 'days':
      return `days(${formula.result},${formula.which})`;
    default:
      return `${formula.op}(${formula.of.map(formulaText).join(',')})`;
  }
}

/** Between a number and its unit: narrow, and never a line break. */
const THIN = '\u202f';
const MINUS = '\u2212';
const NOT_ZERO = /[1-9]/;
/** Smaller numbers are what floating-point arithmetic leaves of a difference of equal numbers. */
const NOISE = 1e-9;

/**
 * A number as people read it, see {@link NumberFormat}. A number that is not 0 never reads as 0: where the format has too
 * few decimals for it, its first digit is shown.
 */
export function formatNumber(value: number, format: NumberFormat): string {
  return FORMATS[format](value);
}

/** The numbers beside an axis, all in one unit and with as many decimals as one of them needs: `0`, `0.5 M`, `1.0 M`. */
export function axisNumbers(values: readonly number[]): string[] {
  const [scale, unit] = scaleOf(Math.max(0, ...values.map(Math.abs)));
  const needed = values.map((value) => decimalsOf(value / scale));
  const digits = Math.max(0, ...needed);
  return values.map((value) => {
    if (value === 0) return '0';
    const text = plain(value / scale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return unit === '' ? text : `${text}${THIN}${unit}`;
  });
}

const AXIS_DECIMALS_MAX = 4;

function decimalsOf(value: number): number {
  const [, decimals = ''] = value.toFixed(AXIS_DECIMALS_MAX).split('.');
  return decimals.replace(/0+$/, '').length;
}

const FORMATS: Record<NumberFormat, (value: number) => string> = {
  count: (value) => fixed(value, 0),
  decimal: (value) => fixed(value, Math.abs(value) < 9.995 ? 2 : 1),
  money: (value) => fixed(value, 2),
  millions: (value) => fixed(value / 1e6, 1),
  compact: (value) => {
    const [scale, unit] = scaleOf(Math.abs(value));
    if (unit === '') return fixed(value, 0);
    // Three or four digits: 5.18 M, 51.8 M, 518.0 M.
    return `${fixed(value / scale, Math.abs(value / scale) < 9.995 ? 2 : 1)}${THIN}${unit}`;
  },
  share: (value) => `${fixed(100 * value, 1)}${THIN}%`,
  change: (value) => `${signed(100 * value, percentDecimals(value))}${THIN}%`,
  size: (value) => `${fixed(Math.abs(100 * value), percentDecimals(value))}${THIN}%`,
  points: (value) => `${signed(100 * value, 1)} points`,
};

function percentDecimals(value: number): number {
  return Math.abs(value) < 0.995 ? 1 : 0;
}

function signed(value: number, decimals: number): string {
  const text = fixed(value, decimals);
  return `${value > 0 && NOT_ZERO.test(text) ? '+' : ''}${text}`;
}

function scaleOf(size: number): readonly [scale: number, unit: string] {
  // What rounds up to the next unit is shown in it.
  if (size >= 999.95e9) return [1e12, 'tn'];
  if (size >= 999.95e6) return [1e9, 'bn'];
  if (size >= 999_950) return [1e6, 'M'];
  return [1, ''];
}

function fixed(value: number, decimals: number): string {
  const text = plain(value, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  if (NOT_ZERO.test(text) || Math.abs(value) < NOISE) return text;
  return plain(value, { maximumSignificantDigits: 1 });
}

function plain(value: number, options: Intl.NumberFormatOptions): string {
  const text = numberFormat(options).format(Math.abs(value));
  return value < 0 && NOT_ZERO.test(text) ? `${MINUS}${text}` : text;
}

/** A page formats thousands of numbers with a handful of options; making a formatter costs more than using it. */
function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options);
  const known = FORMATTERS.get(key) ?? new Intl.NumberFormat('en-US', options);
  FORMATTERS.set(key, known);
  return known;
}

const FORMATTERS = new Map<string, Intl.NumberFormat>();
