import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/core/errors.ts';
import { parseSchedule } from '../../../src/serve/schedule.ts';

const HOUR_MS = 3_600_000;

describe('a schedule', () => {
  it.each([
    ['0 3 * * *', '2026-11-20T03:00', '2026-11-21T03:00'],
    ['30 */6 * * *', '2026-11-20T03:00', '2026-11-20T06:30'],
    ['*/5 * * * *', '2026-12-31T23:56', '2027-01-01T00:00'],
    ['0 0 29 2 *', '2026-11-20T03:00', '2028-02-29T00:00'],
    ['0 3 * * MON', '2026-11-20T03:00', '2026-11-23T03:00'],
    ['0 3 L * *', '2026-11-20T03:00', '2026-11-30T03:00'],
    // The nights on which clocks change in Europe and America: UTC has none.
    ['30 2 * * *', '2026-03-28T03:00', '2026-03-29T02:30'],
    ['30 1 * * *', '2026-10-31T02:00', '2026-11-01T01:30'],
  ])('%s after %s comes at %s, in UTC', (text, after, expected) => {
    expect(parseSchedule(text).next(new Date(`${after}:00Z`))).toEqual(new Date(`${expected}:00Z`));
  });

  it.each([
    ['0 3 * * *', 24, 24],
    ['0 3,5 * * *', 2, 22],
    ['0 3 * * 1', 168, 168],
    ['0 0 29 2 *', 4 * 365.25 * 24, 4 * 365.25 * 24],
    // With more ticks a week, or in half a year, than two days can have.
    ['*/15 8-23 * * 1-5', 0.25, 56.25],
    ['*/6 * * * 1-5', 0.1, 48.1],
    ['0 */6 * 1-6 *', 6, 184 * 24 + 6],
  ])('%s has gaps from %d to %d hours', (text, shortest, longest) => {
    const { shortestGapMs, longestGapMs } = parseSchedule(text);
    expect([shortestGapMs / HOUR_MS, longestGapMs / HOUR_MS]).toEqual([shortest, longest]);
  });

  it.each([
    ['0 0 30 2 *', 'never comes'],
    ['0 0 31 2,4,6,9,11 *', 'never comes'],
    ['* * * * *', 'comes twice within 1 min'],
    ['*/7 * * * *', 'comes twice within 4 min'],
    ['0,58 0,23 * * *', 'comes twice within 2 min'],
    ['0 3 * *', 'it needs 5 fields and has 4'],
    ['0 0 3 * * *', 'it needs 5 fields and has 6'],
    ['@daily', 'it needs 5 fields and has 1'],
    ['2026-12-01T00:00:00Z', 'it needs 5 fields and has 1'],
    ['? 3 * * *', 'it has a question mark'],
    ['60 3 * * *', 'Invalid value for minute: 60'],
    ['a 3 * * *', 'illegal characters'],
    ['', 'is not a schedule'],
  ])('%j is refused: %s', (text, why) => {
    const refusal = () => parseSchedule(text);
    expect(refusal).toThrow(UsageError);
    expect(refusal).toThrow(why);
  });
});
