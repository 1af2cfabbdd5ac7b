import type { NumberFormat } from '../page/numbers.ts';

/** Between a number and its unit: narrow, and never a line break. */
const THIN = '\u202f';
const MINUS = '\u2212';

/** A number as people read it, see {@link NumberFormat}. */
export function formatNumber(value: number, format: NumberFormat): string {
  return FORMATS[format](value);
}

const FORMATS: Record<NumberFormat, (value: number) => string> = {
  count: (value) => fixed(value, 0),
  decimal: (value) => fixed(value, Math.abs(value) < 10 ? 2 : 1),
  money: (value) => fixed(value, 2),
  millions: (value) => fixed(value / 1e6, 1),
  compact: (value) => {
    const [scale, unit] = scaleOf(Math.abs(value));
    return unit === '' ? fixed(value, 0) : `${fixed(value / scale, 1)}${THIN}${unit}`;
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
  return `${value > 0 && /[1-9]/.test(text) ? '+' : ''}${text}`;
}

function scaleOf(size: number): readonly [scale: number, unit: string] {
  // What rounds up to the next unit is shown in it.
  if (size >= 999.95e6) return [1e9, 'bn'];
  if (size >= 999_950) return [1e6, 'M'];
  return [1, ''];
}

function fixed(value: number, decimals: number): string {
  const text = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(Math.abs(value));
  return value < 0 && /[1-9]/.test(text) ? `${MINUS}${text}` : text;
}
