/**
 * How people see a number:
 *
 * - `count`: whole, with separators of thousands.
 * - `compact`: as `count` below a million, then in millions or billions with a unit: `518.0 M`.
 * - `millions`: in millions with one decimal; the column says M.
 * - `decimal`: up to two decimals.
 * - `share`: per cent of a ratio. `change`: the same, with a sign. `size`: the same, for a change that words call more or less.
 * - `points`: the difference of two ratios in percentage points, with a sign.
 * - `money`: two decimals; the column or the text around it names the currency. `round`: the same without decimals, where there is
 *   enough of it. `moneyChange`, `compactChange`: a difference, with a sign.
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
  | 'money'
  | 'round'
  | 'moneyChange'
  | 'compactChange';

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
  round: (value) => fixed(value, Math.abs(value) < 99.995 ? 2 : 0),
  moneyChange: (value) => signed(value, Math.abs(value) < 99.995 ? 2 : 0),
  compactChange: (value) => {
    const [scale, unit] = scaleOf(Math.abs(value));
    return unit === '' ? signed(value, 0) : `${signed(value / scale, 1)}${THIN}${unit}`;
  },
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
