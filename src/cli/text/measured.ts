/** People see at most this many significant digits. More of them are rounding errors of sums. */
const SIGNIFICANT_DIGITS_MAX = 12;
const DECIMALS_MAX = 4;
/** Shares need more decimals than amounts. */
const DECIMALS_OF_SHARES_MAX = 6;

/**
 * Formats the measured numbers of a column with thousands separators and one number of decimals, so that they align: as many
 * as the numbers have, four at most, or six if all are below 1. Numbers that these decimals would show as 0 have six
 * significant digits.
 */
export function formatMeasured(values: readonly number[]): string[] {
  const rounded = values.map((value) => Number(value.toPrecision(SIGNIFICANT_DIGITS_MAX)));
  const largest = rounded.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const wholeDigits = Math.trunc(largest).toFixed(0).length;
  const decimalsMax = Math.min(
    largest < 1 ? DECIMALS_OF_SHARES_MAX : DECIMALS_MAX,
    Math.max(0, SIGNIFICANT_DIGITS_MAX - wholeDigits),
  );
  const decimals = rounded.reduce((max, value) => Math.max(max, decimalsOf(value, decimalsMax)), 0);
  const aligned = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  const tiny = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 });
  return rounded.map((value) => {
    const isLost = value !== 0 && Math.abs(value) < 0.5 * 10 ** -decimals;
    return (isLost ? tiny : aligned).format(value);
  });
}

function decimalsOf(value: number, max: number): number {
  const [, fraction = ''] = value.toFixed(max).split('.');
  return fraction.replace(/0+$/, '').length;
}
