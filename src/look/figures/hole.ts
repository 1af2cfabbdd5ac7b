import type { Result } from '../data/result.ts';

/** Why nothing is compared if the span before would begin before the service did. */
export const NO_SPAN_BEFORE = 'the span before would begin before the first day of the service';

/** Why two spans cannot be compared: spans are compared only if no day of either is missing. */
export function holeIn(
  { basis: now }: Pick<Result, 'basis'>,
  { basis: then }: Pick<Result, 'basis'>,
): string | undefined {
  const missing = now.days.missing.length + then.days.missing.length;
  if (missing === 0) return undefined;
  return `${missing} ${missing === 1 ? 'day is' : 'days are'} missing, so the spans cannot be compared`;
}
