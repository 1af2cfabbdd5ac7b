/** An instant for tables: `2026-11-20 03:00 UTC`. A text that is no instant stays as it is. */
export function instantName(instant: string): string {
  return ISO.test(instant) ? `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC` : instant;
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
