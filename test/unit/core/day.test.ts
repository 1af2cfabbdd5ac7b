import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dayOf,
  daysBetween,
  daysFrom,
  FIRST_DAY,
  isDay,
  isoWeekOf,
  monthOf,
  parseDay,
  shiftDay,
  startOfDayMs,
  type UtcDay,
  weekdayOf,
  yesterdayOf,
} from '../../../src/core/day.ts';
import { UsageError } from '../../../src/core/errors.ts';

const DAY_MS = 86_400_000;

/** Days by their number since 1970, spelled by the platform's own UTC calendar. */
const days = fc
  .integer({ min: -200_000, max: 200_000 })
  .map((number) => ({ number, day: parseDay(new Date(number * DAY_MS).toISOString().slice(0, 10)) }));

describe('a day', () => {
  it.each(['2026-01-14', '2024-02-29', '2000-02-29', '2026-12-31', '1999-01-01'])('is %s', (text) => {
    expect(isDay(text)).toBe(true);
    expect(parseDay(text)).toBe(text);
  });

  it.each([
    '2026-02-29',
    '1900-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-01-32',
    '2026-1-4',
    '26-01-14',
    '20260114',
    '2026/01/14',
    ' 2026-01-14',
    '2026-01-14 ',
    '2026-01-14\n',
    '2026-01-14T00:00:00Z',
    '٢٠٢٦-٠١-١٤',
    '+002026-01-14',
    'yesterday',
    '',
  ])('is not %j', (text) => {
    expect(isDay(text)).toBe(false);
    expect(() => parseDay(text)).toThrow(UsageError);
  });

  it.each([null, undefined, 20260114, new Date(), ['2026-01-14'], {}])('is a string, not %j', (value) => {
    expect(isDay(value)).toBe(false);
  });

  it('names the text and the remedy when it is not a day', () => {
    expect(() => parseDay('2026-02-29')).toThrow('"2026-02-29" is not a calendar day');
    expect(() => parseDay('2026-02-29')).toThrow(
      expect.objectContaining({ exitCode: 2, hint: expect.stringContaining('YYYY-MM-DD') }),
    );
  });

  it('is not before the first one of the service', () => {
    expect(FIRST_DAY).toBe('2026-01-14');
  });
});

describe('arithmetic of days', () => {
  it('crosses 29 February and the end of the year', () => {
    expect(shiftDay(parseDay('2028-02-28'), 1)).toBe('2028-02-29');
    expect(shiftDay(parseDay('2028-02-29'), 1)).toBe('2028-03-01');
    expect(shiftDay(parseDay('2026-02-28'), 1)).toBe('2026-03-01');
    expect(shiftDay(parseDay('2026-12-31'), 1)).toBe('2027-01-01');
    expect(shiftDay(parseDay('2027-01-01'), -1)).toBe('2026-12-31');
    expect(daysFrom(parseDay('2026-12-30'), parseDay('2027-01-02'))).toEqual([
      '2026-12-30',
      '2026-12-31',
      '2027-01-01',
      '2027-01-02',
    ]);
  });

  it('counts every day once where clocks are put forward and back', () => {
    // In March, April, September, October and November some zone changes; Auckland does in April and September.
    for (const first of ['2026-03-01', '2026-04-01', '2026-09-20', '2026-10-20', '2026-11-01'].map(
      parseDay,
    )) {
      const month = daysFrom(first, shiftDay(first, 40));
      expect(new Set(month).size).toBe(41);
      expect(month).toEqual(month.toSorted());
      expect(daysBetween(first, shiftDay(first, 40))).toBe(40);
    }
  });

  it('returns no days for a reversed range', () => {
    expect(daysFrom(parseDay('2026-02-02'), parseDay('2026-02-01'))).toEqual([]);
    expect(daysFrom(parseDay('2026-02-02'), parseDay('2026-02-02'))).toEqual(['2026-02-02']);
  });

  it('is consistent, and agrees with the calendar of the platform', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: -5000, max: 5000 }), ({ number, day }, shift) => {
        const moved = shiftDay(day, shift);
        expect(startOfDayMs(moved)).toBe((number + shift) * DAY_MS);
        expect(daysBetween(day, moved)).toBe(shift);
        expect(daysBetween(moved, day) + shift).toBe(0);
        expect(shiftDay(moved, -shift)).toBe(day);
        expect(Math.sign(shift)).toBe(day < moved ? 1 : day > moved ? -1 : 0);
      }),
    );
  });

  it('lists as many days as lie between, in order, each once', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: 0, max: 400 }), ({ day }, length) => {
        const list = daysFrom(day, shiftDay(day, length));
        expect(list).toHaveLength(length + 1);
        expect(list[0]).toBe(day);
        expect(
          list.every((each, index) => index === 0 || daysBetween(list[index - 1] as UtcDay, each) === 1),
        ).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('returns the day of every instant at any hour', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: 0, max: DAY_MS - 1 }), ({ number, day }, ms) => {
        const instant = new Date(number * DAY_MS + ms);
        expect(dayOf(instant)).toBe(day);
        expect(yesterdayOf(instant)).toBe(shiftDay(day, -1));
      }),
    );
  });

  it('has the ISO weekday and the ISO week that follow from the Thursdays, for every day of sixty years', () => {
    for (const day of daysFrom(parseDay('1999-12-01'), parseDay('2060-01-31'))) {
      const number = Date.parse(day) / DAY_MS;
      // 1970 began on a Thursday. The year of a week is the year of its Thursday.
      const weekday = ((number + 3) % 7) + 1;
      const thursday = number + 4 - weekday;
      const iso_year = new Date(thursday * DAY_MS).getUTCFullYear();
      const iso_week = Math.floor((thursday - Date.UTC(iso_year, 0, 1) / DAY_MS) / 7) + 1;
      expect(weekdayOf(day), day).toBe(weekday);
      expect(isoWeekOf(day), day).toEqual({ iso_year, iso_week });
    }
  });

  it('knows weekdays and months', () => {
    expect(weekdayOf(parseDay('2026-01-14'))).toBe(3);
    expect(weekdayOf(parseDay('2026-01-18'))).toBe(7);
    expect(weekdayOf(parseDay('2026-01-19'))).toBe(1);
    expect(monthOf(parseDay('2028-02-29'))).toBe('2028-02-01');
  });
});
