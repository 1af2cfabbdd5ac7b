import { describe, expect, test } from 'vitest';
import { comparedSpan } from '../../../src/comparison/index.ts';
import { daysBetween, parseDay, shiftDay, weekdayOf } from '../../../src/core/day.ts';

const spanOf = (from: string, until: string, comparison: 'previous' | 'calendar' = 'previous') => {
  const span = comparedSpan({ from: parseDay(from), until: parseDay(until) }, comparison, {});
  return span === null ? null : `${span.from} ${span.until}`;
};

describe('the same weekdays before', () => {
  test('a month to date is compared with the fewest whole weeks back that do not overlap it, at least four', () => {
    expect(spanOf('2026-11-01', '2026-11-23')).toBe('2026-10-04 2026-10-26');
    const spans = Array.from({ length: 29 }, (_, index) => {
      const until = `2026-11-${String(index + 1).padStart(2, '0')}`;
      return spanOf('2026-11-01', until);
    });
    const back = (until: string, days: number) => shiftDay(parseDay(until), -days);
    expect(spans.slice(0, 28)).toEqual(
      Array.from({ length: 28 }, (_, index) => `2026-10-04 ${back('2026-11-01', 28 - index)}`),
    );
    expect(spans[28]).toBe('2026-09-27 2026-10-25');
  });

  test('day 30 ends a month of 30 days, which is compared with the whole month before', () => {
    expect(spanOf('2026-11-01', '2026-11-30')).toBe('2026-10-01 2026-10-31');
    expect(spanOf('2026-10-01', '2026-10-30')).toBe('2026-08-27 2026-09-25');
    expect(spanOf('2027-02-01', '2027-02-28')).toBe('2027-01-01 2027-01-31');
    expect(spanOf('2027-01-01', '2027-01-31')).toBe('2026-12-01 2026-12-31');
  });

  test('a whole quarter is compared with the one before, across a year too', () => {
    expect(spanOf('2026-07-01', '2026-09-30')).toBe('2026-04-01 2026-06-30');
    expect(spanOf('2027-01-01', '2027-03-31')).toBe('2026-10-01 2026-12-31');
    // Three months that are no quarter.
    expect(spanOf('2026-08-01', '2026-10-31')).toBe('2026-04-25 2026-07-25');
  });

  test('any other period keeps its length and its weekdays, and ends within the week before it', () => {
    for (let length = 1; length <= 100; length += 1) {
      const from = parseDay('2026-08-05');
      const until = shiftDay(from, length - 1);
      const span = comparedSpan({ from, until }, 'previous', {});
      if (span === null) throw new Error(`no span for ${length} days`);
      expect(daysBetween(span.from, span.until)).toBe(length - 1);
      expect(weekdayOf(span.from)).toBe(weekdayOf(from));
      expect(daysBetween(span.until, from)).toBeGreaterThan(0);
      expect(daysBetween(span.until, from)).toBeLessThanOrEqual(7);
    }
  });

  test('none begins before the first expected day, unless the period does', () => {
    const january = { from: parseDay('2026-01-14'), until: parseDay('2026-01-20') };
    expect(comparedSpan(january, 'previous', {})).toBeNull();
    const may = { from: parseDay('2026-05-08'), until: parseDay('2026-05-14') };
    const week = { from: parseDay('2026-05-01'), until: parseDay('2026-05-07') };
    expect(comparedSpan(may, 'previous', { firstDay: parseDay('2026-05-01') })).toEqual(week);
    expect(comparedSpan(may, 'previous', { firstDay: parseDay('2026-05-02') })).toBeNull();
    expect(comparedSpan(may, 'previous', { firstDay: parseDay('2026-06-01') })).toEqual(week);
  });
});

test('the calendar compares a month to date with the same days of the month before, else with the days just before', () => {
  expect(spanOf('2026-11-01', '2026-11-23', 'calendar')).toBe('2026-10-01 2026-10-23');
  expect(spanOf('2026-11-01', '2026-11-30', 'calendar')).toBe('2026-10-01 2026-10-31');
  expect(spanOf('2026-07-01', '2026-09-30', 'calendar')).toBe('2026-04-01 2026-06-30');
  expect(spanOf('2026-03-01', '2026-03-30', 'calendar')).toBe('2026-01-30 2026-02-28');
  expect(spanOf('2026-11-05', '2026-11-07', 'calendar')).toBe('2026-11-02 2026-11-04');
});
