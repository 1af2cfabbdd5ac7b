import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeForTerminal, toSafeJson } from '../../src/cli/text/escape.ts';
import { counted, formatAge, formatBytes, formatDuration, formatNumber } from '../../src/cli/text/quantity.ts';
import { shellQuote } from '../../src/cli/text/shell.ts';
import { padTo, truncateTo, widthOf } from '../../src/cli/text/width.ts';

// Everything that moves a cursor, changes a colour, starts a line or turns the reading direction.
const DANGEROUS = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
const anyText = fc.string({ unit: 'binary' });

describe('a text from outside', () => {
  test.each([
    ['a\nb', 'a\\nb'],
    ['a\tb\r', 'a\\tb\\r'],
    ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\u009b31m', '\\x9b31m'],
    ['\u0007\u0000\u007f', '\\x07\\x00\\x7f'],
    ['abc\u202ednoces', 'abc\\u202ednoces'],
    ['a\u2028b', 'a\\u2028b'],
    ['tag \u{e0041}', 'tag \\u{e0041}'],
    ['lone \ud800', 'lone \\ud800'],
    ['日本 Ünï 👩‍💻 नमस्ते', '日本 Ünï 👩‍💻 नमस्ते'],
    ["=cmd()|'; DROP TABLE users; --", "=cmd()|'; DROP TABLE users; --"],
  ])('%j is shown as %s', (text, shown) => {
    expect(escapeForTerminal(text)).toBe(shown);
  });

  test('never reaches the terminal with anything that the terminal obeys', () => {
    fc.assert(fc.property(anyText, (text) => {
        expect(escapeForTerminal(text)).not.toMatch(DANGEROUS);
      }));
  });

  test('is one line of safe JSON that parses to the same value', () => {
    fc.assert(
      fc.property(fc.anything({ key: anyText, values: [anyText, fc.integer(), fc.boolean(), fc.constant(null)] }), (value) => {
        const line = toSafeJson(value);
        expect(line).not.toMatch(DANGEROUS);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value) ?? 'null'));
      }),
    );
    expect(toSafeJson({ a: 'x\u202ey' }, 2)).toBe('{\n  "a": "x\\u202ey"\n}');
  });
});

describe('width in cells', () => {
  test.each([
    ['plain', 5],
    ['日本語', 6],
    ['한국', 4],
    ['ｆｕｌｌ', 8],
    ['é', 1],
    ['e\u0301', 1],
    ['👩‍💻', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['–…■□·━', 6],
    ['', 0],
  ])('of %s is %i', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  test('is kept by padding and never exceeded by truncation', () => {
    const word = fc.string({ unit: fc.constantFrom('a', '日', '👩‍💻', 'e\u0301', ' ', 'ß') });
    fc.assert(
      fc.property(word, fc.integer({ min: 1, max: 20 }), (text, width) => {
        const cut = truncateTo(text, width);
        expect(widthOf(cut)).toBeLessThanOrEqual(width);
        expect(cut === text || cut.endsWith('…')).toBe(true);
        expect(widthOf(padTo(cut, width))).toBe(width);
        expect(padTo(cut, width, 'right').endsWith(cut)).toBe(true);
      }),
    );
  });
});

test('quantities read as people write them', () => {
  expect([formatNumber(1234567), formatNumber(0.125), formatNumber(-1200)]).toEqual(['1,234,567', '0.13', '-1,200']);
  expect([counted(1, 'unit'), counted(0, 'unit'), counted(2_000, 'retry', 'retries')]).toEqual([
    '1 unit',
    '0 units',
    '2,000 retries',
  ]);
  const durations = [0, 950, 9_999, 10_000, 59_600, 185_000, 3_599_600, 7_800_000, 86_399_999, 360_000_000];
  expect(durations.map(formatDuration)).toEqual([
    ...['0.0 s', '0.9 s', '10.0 s', '10 s', '1m 00s', '3m 05s', '1h 00m', '2h 10m', '1d 0h', '4d 4h'],
  ]);
  const ages = [0, 60_000, 3 * 3_600_000, 47 * 3_600_000, 49 * 3_600_000];
  expect(ages.map(formatAge)).toEqual(['just now', '1 minute ago', '3 hours ago', '47 hours ago', '2 days ago']);
  expect([999, 58_000, 16_400_000, 25e9].map(formatBytes)).toEqual(['999 B', '58 kB', '16 MB', '25 GB']);
});

test('a word for a shell is quoted where it must be', () => {
  expect(['daywalk.db', 'my file.db', "it's.db", 'a;rm -rf x'].map(shellQuote)).toEqual([
    ...['daywalk.db', "'my file.db'", "'it'\\''s.db'", "'a;rm -rf x'"],
  ]);
});
