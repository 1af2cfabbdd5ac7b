import { isKeptIn } from '../comparison/index.ts';
import { daysFrom, type UtcDay } from '../core/day.ts';
import type { CoveredDays, MetricRow, readProvenance } from '../metrics/index.ts';
import type { QueryRow } from '../port/index.ts';
import type { NumberFormat } from './number-format.ts';

export { axisNumbers, formatNumber, type NumberFormat } from './number-format.ts';

/** What numbers rest on: the days of a period, how well the ledger knows them, and the run that changed them last. */
export interface Basis {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly days: CoveredDays;
  /** Those of the unsettled days that are old, and will probably settle as they are. @default none */
  readonly firstLooks?: Awaited<ReturnType<typeof readProvenance>>['firstLooks'];
  /** The credits of each day as published: how much of a number its days are. @default each day is as much as any other */
  readonly weights?: ReadonlyMap<string, number>;
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

/** A number that a page shows, and where it comes from. */
export interface ShownNumber {
  readonly kind: 'number';
  /** Null if there is none; pages show a dash, never 0. */
  readonly value: number | null;
  readonly format: NumberFormat;
  readonly formula: Formula;
  /** Why there is no value, as a sentence; shown with the dash. */
  readonly why?: string | undefined;
  /** Present if the number may still change. */
  readonly open?: Openness | undefined;
  /** The path of the page that begins with this number, and shows what it consists of. */
  readonly path?: string | undefined;
}

/** That a number may still change. */
export interface Openness {
  /** As a sentence. */
  readonly why: string;
  /** How much of the number may change, 0 to 1, as credits are spread over its days. */
  readonly share: number;
}

/** Pages underline a number with dots from this share on; what is less, the sentence says once. */
const DOTTED_SHARE = 0.1;
/** What floating-point arithmetic may take from a share. */
const ROUNDING = 1e-9;

/** True if so much of a number is open that it is marked. */
export function isDotted({ open }: Pick<ShownNumber, 'open'>): boolean {
  return open !== undefined && open.share >= DOTTED_SHARE - ROUNDING;
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
  {
    column,
    why,
    open,
  }: { column?: string; why?: string | undefined; open?: Openness | null | undefined } = {},
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

/** Why there is no change where a span has nothing. */
export const NOTHING_BEFORE = 'there is nothing to compare with';

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
    why: why ?? (value === null ? NOTHING_BEFORE : undefined),
    open: moreOpen(now, before),
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
    why: value === null ? (a.why ?? b.why ?? NOTHING_BEFORE) : undefined,
    open: moreOpen(a, b),
  };
}

/** A number that does not exist, with the reason as a sentence. */
export function noNumber(why: string, format: NumberFormat = 'count'): ShownNumber {
  return { kind: 'number', value: null, format, formula: { op: 'sum', of: [] }, why };
}

/** The 0 of a group that a result has no row of. None if no day is stored, or people of one have expired, as for a question about the group. */
export function zeroIn(result: Result, format: NumberFormat): ShownNumber {
  const { days } = result.basis;
  if (!isKeptIn(result.basis) || days.missing.length === days.expected)
    return noNumber(result.warnings[0] ?? 'no day of this period is stored', format);
  const rows: Formula = { op: 'rows', result: result.id };
  const formula: Formula = { op: 'difference', of: [rows, rows] };
  return { kind: 'number', value: 0, format, formula, open: openness(result) };
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
    open: moreOpen(part, whole),
  };
}

/** What of two numbers is open, for a number that follows from both. */
function moreOpen({ open: a }: ShownNumber, { open: b }: ShownNumber): Openness | undefined {
  return a === undefined || (b !== undefined && b.share > a.share) ? b : a;
}

/** What is open of a sum: as much as is open of its parts. */
function openOf(numbers: readonly ShownNumber[]): Openness | undefined {
  const [first] = numbers.flatMap(({ open }) => open ?? []);
  if (first === undefined) return undefined;
  const size = (number: ShownNumber) => Math.abs(number.value ?? 0);
  const whole = numbers.reduce((sum, number) => sum + size(number), 0);
  const part = numbers.reduce((sum, number) => sum + size(number) * (number.open?.share ?? 0), 0);
  return { why: first.why, share: whole === 0 ? 1 : part / whole };
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
    open: openOf(numbers),
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
function openness({ basis }: Pick<Result, 'basis'>): Openness | undefined {
  if (basis.days.unsettled.length + basis.days.missing.length === 0) return undefined;
  // A list has thousands of numbers of one result.
  const known = OPENNESS.get(basis) ?? { of: opennessOf(basis, daysFrom(basis.from, basis.until)) };
  OPENNESS.set(basis, known);
  return known.of;
}

const OPENNESS = new WeakMap<Basis, { readonly of: Openness | undefined }>();

/** Why a number that rests on some days may still change; undefined if all of them are settled. */
export function opennessOf(basis: Basis, days: readonly UtcDay[]): Openness | undefined {
  const own = new Set(days);
  const open = openDaysOf(basis).filter((day) => own.has(day));
  const missing = basis.days.missing.filter((day) => own.has(day));
  const why = openWords(days.length, open.length, missing.length);
  if (why === undefined) return undefined;
  const lacking = new Set(missing);
  const stored = days.filter((day) => !lacking.has(day));
  const weigh = (some: readonly UtcDay[]) =>
    some.reduce((sum, day) => sum + (basis.weights?.get(day) ?? 0), 0);
  const whole = weigh(stored);
  const ofStored = whole > 0 ? weigh(open) / whole : open.length / Math.max(1, stored.length);
  const ofMissing = missing.length / days.length;
  return { why, share: ofMissing + (1 - ofMissing) * ofStored };
}

function openWords(expected: number, unsettled: number, missing: number): string | undefined {
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
  /** `count`: how many operands have a value. `above`: how many of those after the first one are above it. */
  | { readonly op: 'count' | 'above'; readonly of: readonly Formula[] }
  /** The number of days of a result that are `unsettled` or `missing`: see the page's query for its days. */
  | {
      readonly op: 'days';
      readonly result: string;
      readonly which: 'expected' | 'settled' | 'unsettled' | 'missing';
    }
  /**
   * What a cause is of the change between two spans: `value`, or its `factor`, or its factor `before`. `of`: the results of the period
   * (working days, users, models), of the span before, and the prices. docs/comparison.md derives it.
   */
  | {
      readonly op: 'cause';
      readonly cause: string;
      readonly part: 'value' | 'factor' | 'before';
      readonly of: readonly string[];
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
    case 'cause':
      return `cause(${[formula.cause, formula.part, ...formula.of].join(',')})`;
    default:
      return `${formula.op}(${formula.of.map(formulaText).join(',')})`;
  }
}
