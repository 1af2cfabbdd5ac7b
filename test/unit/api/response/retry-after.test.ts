import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHttpDate, parseRetryAfter } from '../../../../src/http/response.ts';

const NOW = new Date('2026-03-29T00:59:30Z');

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['1', 1000],
    ['120', 120_000],
    [' 7 ', 7000],
    ['1000000000', 1e12],
    ['Sun, 29 Mar 2026 01:00:00 GMT', 30_000],
    ['Sun, 29 Mar 2026 00:59:30 GMT', 0],
    ['Sun, 29 Mar 2026 00:00:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    // The two older forms of a date, which a recipient must accept (RFC 9110, section 5.6.7).
    ['Sunday, 29-Mar-26 01:00:00 GMT', 30_000],
    ['Sun Mar 29 01:00:00 2026', 30_000],
    // A year of two digits that would be more than 50 years ahead is past.
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Sun Apr  5 00:59:30 2026', 7 * 86_400_000],
  ])('%j requests a wait of %i ms', (header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms);
  });

  it.each([
    undefined,
    '',
    ' ',
    'soon',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '2026-03-29T01:00:00Z',
    'Sun, 31 Feb 2026 01:00:00 GMT',
    'Sun, 29 Mar 2026 25:00:00 GMT',
    'Sun, 29 Mar 2026 01:00:00 +0200',
  ])('%j requests no wait', (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  });

  it('reads an absurd number as an absurd wait, never as no wait', () => {
    expect(parseRetryAfter('9'.repeat(400), NOW)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('an HTTP date', () => {
  it('is not moved by the hour that a local clock skips in spring', () => {
    // The suite runs in Auckland, where 02:00 on this day does not exist.
    expect(parseHttpDate('Sun, 30 Sep 2153 02:00:00 GMT')?.toISOString()).toBe('2153-09-30T02:00:00.000Z');
  });

  it('is read correctly in every time zone', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1970-01-01'), max: new Date('2199-12-31'), noInvalidDate: true }),
        (date) => {
          const seconds = Math.floor(date.getTime() / 1000) * 1000;
          expect(parseHttpDate(date.toUTCString())?.getTime()).toBe(seconds);
        },
      ),
    );
  });
});
