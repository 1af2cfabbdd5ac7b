import { UsageError } from '../../core/errors.ts';

/** Inclusive bounds of a whole number. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
}

const WHOLE_NUMBER = /^\d{1,15}$/;
const DIGITS = /^\d+$/;

/** Creates a parser for whole numbers within bounds. It accepts digits only: no sign, fraction, exponent or separator. */
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

/** Like {@link wholeNumber}; the word `none` gives null. */
export function wholeNumberOrNone(bounds: NumberBounds): (text: string) => number | null {
  const parse = wholeNumber(bounds);
  return (text) => (text === 'none' ? null : parse(text));
}
