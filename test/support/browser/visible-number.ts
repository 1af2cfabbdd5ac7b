import type { ShownText } from './page-claims.ts';

/** A sign, digits in groups of three, decimals, and a unit. The minus is the typographic one. */
const NUMBER = /^(<?)([+\u2212]?)(\d{1,3}(?:,\d{3})*)(?:\.(\d+))?\s?(M|bn|tn|%|points?)?$/u;
const SCALES: Readonly<Record<string, number>> = {
  M: 1e6,
  bn: 1e9,
  tn: 1e12,
  '%': 0.01,
  point: 0.01,
  points: 0.01,
};

/**
 * Why the text of a number does not show its value, rounded to the digits of the text; null if it does. A text without a unit
 * may be in millions if the column or the subtitle says so, and a text without a sign may stand for a negative value if
 * the next words say "less".
 */
export function whyWrongText(shown: ShownText, value: number): string | null {
  const match = NUMBER.exec(shown.text);
  if (match === null) return `"${shown.text}" cannot be read as a number`;
  const [, below = '', sign = '', whole = '', decimals = '', unit = ''] = match;
  const digits = Number(`${whole.replaceAll(',', '')}.${decimals}`) * (sign === '\u2212' ? -1 : 1);
  if (below !== '') return isBelow(Math.abs(value), Math.abs(digits), unit) ? null : shownAs(shown, value);
  const scales = unit === '' ? [1, ...scalesOf(shown.units)] : [SCALES[unit] ?? 1];
  const isShown = (wanted: number) =>
    scales.some((scale) => {
      const step = scale * 10 ** -decimals.length;
      return Math.abs(digits * scale - wanted) <= step / 2 + 1e-9 * Math.max(Math.abs(wanted), step);
    });
  if (isShown(value)) return digits === 0 && sign !== '' ? `"${shown.text}" has a sign` : null;
  const isLess = value < 0 && sign === '' && /^\W*(?:less|fewer|lower|below)\b/.test(shown.after);
  return isLess && isShown(-value) ? null : shownAs(shown, value);
}

function isBelow(value: number, limit: number, unit: string): boolean {
  return value > 0 && value < limit * (SCALES[unit] ?? 1);
}

function scalesOf(units: readonly string[]): number[] {
  return units.some((text) => /\bM\b|\bmillions?\b/i.test(text)) ? [1e6] : [];
}

function shownAs({ text }: ShownText, value: number): string {
  return `"${text}" does not show ${value}`;
}
