import { UsageError } from '../../core/errors.ts';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const SHAPE = /^(?:0|(\d{1,6})([smh]))$/;

/**
 * Parses a duration in seconds, minutes or hours as milliseconds: `90s`, `5m`, `1h`; `0` needs no unit.
 * @throws {UsageError} if it is none
 */
export function parseDuration(text: string): number {
  const [match, digits = '0', unit = 's'] = SHAPE.exec(text) ?? [];
  if (match !== undefined) return Number(digits) * (UNITS_MS[unit] ?? 0);
  throw new UsageError(`"${text}" is not a duration`, { hint: 'write it as 90s, 5m or 1h' });
}

/** The duration as {@link parseDuration} reads it. */
export function showDuration(ms: number): string {
  const [unit] = ['h', 'm', 's'].filter((name) => ms % (UNITS_MS[name] ?? 1) === 0);
  return ms === 0 || unit === undefined ? '0' : `${ms / (UNITS_MS[unit] ?? 1)}${unit}`;
}
