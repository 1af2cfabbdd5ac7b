import { UsageError } from '../../core/errors.ts';

/** The bounds of a whole number, both included. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
}

const WHOLE_NUMBER = /^\d{1,15}$/;
const DIGITS = /^\d+$/;

/** A parser for whole numbers within bounds. Only digits count: no sign, no fraction, no exponent, no separators. */
export function wholeNumber({ min, max }: NumberBounds): (text: string) => number {
  return (text) => {
    const value = WHOLE_NUMBER.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const example = Math.min(max, Math.max(min, 8));
    throw new UsageError(`"${text}" is not a whole number from ${min} to ${max}`, {
      hint: DIGITS.test(text)
        ? `it is too ${text.length > 15 || value > max ? 'large' : 'small'}: give a number from ${min} to ${max}`
        : `give digits alone, for example ${example}`,
    });
  };
}

/** As {@link wholeNumber}, or the word `none` for null. */
export function wholeNumberOrNone(bounds: NumberBounds): (text: string) => number | null {
  const parse = wholeNumber(bounds);
  return (text) => (text === 'none' ? null : parse(text));
}
