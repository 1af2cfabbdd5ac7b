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
