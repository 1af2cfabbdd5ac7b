// Created on first use, because creating it takes longer than the rest of a short command.
let grouped: Intl.NumberFormat | undefined;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a number with thousands separators and two decimals at most; a tiny negative one is 0, not -0. */
export function formatNumber(value: number): string {
  grouped ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 2, signDisplay: 'negative' });
  return grouped.format(value);
}

/** Formats a number with its noun: `1 unit`, `2,400 units`. */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatNumber(value)} ${value === 1 ? noun : plural}`;
}

/** Formats a size in powers of a thousand: `58 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return bytes < 10_000_000_000
    ? `${Math.round(bytes / 1_000_000)} MB`
    : `${Math.round(bytes / 1_000_000_000)} GB`;
}

/** Formats a duration: `0.4 s`, `12 s`, `3m 05s`, `2h 10m`, `4d 3h`. */
export function formatDuration(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  // Rounded first, so that 59.6 s becomes 1m 00s and not 60 s.
  const seconds = Math.round(ms / SECOND_MS);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`;
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`;
  const hours = Math.round(ms / HOUR_MS);
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** Formats an age: `just now`, `5 minutes ago`, `3 hours ago`, `2 days ago`. */
export function formatAge(ms: number): string {
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return `${counted(Math.floor(ms / MINUTE_MS), 'minute')} ago`;
  if (ms < 2 * DAY_MS) return `${counted(Math.floor(ms / HOUR_MS), 'hour')} ago`;
  return `${counted(Math.floor(ms / DAY_MS), 'day')} ago`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** People see at most this many significant digits of a fraction. More of them are rounding errors of sums. */
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
  const roundedOf = (value: number) => Number(value.toPrecision(SIGNIFICANT_DIGITS_MAX));
  const rounded = values.map((value) => (value % 1 === 0 ? value : roundedOf(value)));
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

/** The most digits that people see of a price. */
const DIGITS_MAX = 12;

/** Formats an amount with the decimals of its currency: `1,234.50 EUR`, `1,235 JPY`. */
export function formatMoney(amount: number, currency: string): string {
  const style = new Intl.NumberFormat('en-US', { style: 'currency', currency }).resolvedOptions();
  const digits = style.maximumFractionDigits ?? 2;
  // A tiny negative difference must not print as -0.00.
  const options = {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: 'negative',
  } as const;
  return `${new Intl.NumberFormat('en-US', options).format(amount)} ${currency}`;
}

/** Formats a price with all its decimals: `2.50 EUR`, `0.0003 EUR`. */
export function formatPrice(price: number, currency: string): string {
  const style = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: DIGITS_MAX,
  });
  return `${style.format(price)} ${currency}`;
}
