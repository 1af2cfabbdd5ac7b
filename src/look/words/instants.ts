import { dayOf } from '../../core/day.ts';
import { dayName } from './spans.ts';

/** An instant for tables: `2026-11-20 03:00 UTC`. A text that is no instant stays as it is. */
export function instantName(instant: string): string {
  return ISO.test(instant) ? `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC` : instant;
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;

/** An instant in running text: `20 November 2026 at 03:00 UTC`. A text that is no instant stays as it is. */
export function instantSentence(instant: string): string {
  if (!ISO.test(instant)) return instant;
  const day = dayOf(new Date(instant));
  return `${dayName(day)} ${day.slice(0, 4)} at ${instant.slice(11, 16)} UTC`;
}
