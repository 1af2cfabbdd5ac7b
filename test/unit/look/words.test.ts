import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { axisNumbers, formatNumber } from '../../../src/look/numbers.ts';
import { daysWords, instantWords } from '../../../src/look/words.ts';

const THIN = '\u202f';

describe('a number as people read it', () => {
  it('has three or four digits where it is compact, and the unit that it rounds up to', () => {
    expect(formatNumber(999_949, 'compact')).toBe('999,949');
    expect(formatNumber(999_950, 'compact')).toBe(`1.00${THIN}M`);
    expect(formatNumber(5_184_000, 'compact')).toBe(`5.18${THIN}M`);
    expect(formatNumber(9_995_000, 'compact')).toBe(`10.0${THIN}M`);
    expect(formatNumber(518_000_000, 'compact')).toBe(`518.0${THIN}M`);
    expect(formatNumber(999_949_999, 'compact')).toBe(`999.9${THIN}M`);
    expect(formatNumber(999_950_000, 'compact')).toBe(`1.00${THIN}bn`);
    expect(formatNumber(2.5e12, 'compact')).toBe(`2.50${THIN}tn`);
  });

  it('is never 0 unless it is 0', () => {
    expect(formatNumber(0.004, 'decimal')).toBe('0.004');
    expect(formatNumber(0.00012, 'money')).toBe('0.0001');
    expect(formatNumber(0.0004, 'share')).toBe(`0.04${THIN}%`);
    expect(formatNumber(-0.0003, 'change')).toBe(`−0.03${THIN}%`);
    expect(formatNumber(20, 'millions')).toBe('0.00002');
    expect(formatNumber(0, 'decimal')).toBe('0.00');
    expect(formatNumber(-0, 'change')).toBe(`0.0${THIN}%`);
  });

  it('takes what arithmetic leaves of equal numbers for 0', () => {
    expect(formatNumber(0.1 + 0.2 - 0.3, 'change')).toBe(`0.0${THIN}%`);
  });

  it('has a real minus sign, and a plus sign where it is a change', () => {
    expect(formatNumber(-1234, 'count')).toBe('−1,234');
    expect(formatNumber(0.109, 'change')).toBe(`+10.9${THIN}%`);
    expect(formatNumber(-0.3, 'change')).toBe(`−30.0${THIN}%`);
  });

  it('has the unit and the decimals of its neighbours beside an axis', () => {
    expect(axisNumbers([0, 600, 1_200])).toEqual(['0', '600', '1,200']);
    expect(axisNumbers([4, 4.5, 5])).toEqual(['4.0', '4.5', '5.0']);
    expect(axisNumbers([0, 500_000, 1_000_000])).toEqual(['0', `0.5${THIN}M`, `1.0${THIN}M`]);
    expect(axisNumbers([-50, 0, 50])).toEqual(['−50', '0', '50']);
  });
});

describe('days in running text', () => {
  const days = [
    '2026-10-12',
    '2026-06-04',
    '2026-10-10',
    '2026-10-11',
    '2026-11-01',
    '2026-11-03',
    '2026-11-03',
  ];

  it('are spans where they are in a row, with the number of days that are left out', () => {
    expect(daysWords(days.map(parseDay))).toBe('4 June, 10 to 12 October, 1 November and 1 more day');
    expect(daysWords(days.map(parseDay), { most: 1 })).toBe('4 June and 5 more days');
  });

  it('name an instant in UTC', () => {
    expect(instantWords('2026-11-20T03:00:00.000Z')).toBe('20 Nov 03:00 UTC');
    expect(instantWords('unknown')).toBe('unknown');
  });
});
