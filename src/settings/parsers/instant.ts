import { UsageError } from '../../core/errors.ts';

const SHAPE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Parses an ISO 8601 instant with a time zone. Strict: it refuses a date without a time, a local time, and 31 June, which
 * `Date` would move to July.
 * @throws {UsageError} if it is not one
 */
export function parseInstant(text: string): Date {
  const instant = new Date(SHAPE.test(text) ? text : Number.NaN);
  if (!Number.isNaN(instant.getTime()) && namesRealDay(text)) return instant;
  throw new UsageError(`"${text}" is not an ISO instant`, { hint: 'write it as 2026-03-01T03:00:00Z' });
}

function namesRealDay(text: string): boolean {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
