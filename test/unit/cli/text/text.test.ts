import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  counted,
  formatAge,
  formatBytes,
  formatDuration,
  formatMeasured,
  formatNumber,
} from '../../../../src/cli/screens/numbers.ts';
import {
  escapeForTerminal,
  padTo,
  shellQuote,
  toSafeJson,
  truncateTo,
  widthOf,
  wrapText,
} from '../../../../src/cli/screens/text.ts';

/** Everything that moves a cursor, changes a colour, starts a line or turns the reading direction. */
function isObeyed(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const ranges = [
    ...[
      [0, 0x1f],
      [0x7f, 0x9f],
      [0xad, 0xad],
      [0x61c, 0x61c],
      [0x200b, 0x200b],
      [0x200e, 0x200f],
      [0x2028, 0x202e],
    ],
    ...[
      [0x2060, 0x206f],
      [0xd800, 0xdfff],
      [0xfeff, 0xfeff],
      [0xfff9, 0xfffb],
      [0xe0001, 0xe0001],
      [0xe0020, 0xe007f],
    ],
  ];
  return ranges.some(([first = 0, last = 0]) => first <= code && code <= last);
}

const anyText = fc.string({ unit: 'binary' });

describe('a foreign text', () => {
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

  test('never reaches the terminal with a control code', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect([...escapeForTerminal(text)].filter(isObeyed)).toEqual([]);
      }),
    );
  });

  test('is one line of safe JSON that parses to the same value', () => {
    fc.assert(
      fc.property(
        fc.anything({ key: anyText, values: [anyText, fc.integer(), fc.boolean(), fc.constant(null)] }),
        (value) => {
          const line = toSafeJson(value);
          expect([...line].filter(isObeyed)).toEqual([]);
          expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value) ?? 'null'));
        },
      ),
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

  test('is reached by padding and never exceeded by truncation', () => {
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

test('quantities are formatted for people', () => {
  expect([formatNumber(1234567), formatNumber(0.125), formatNumber(-1200), formatNumber(-0.001)]).toEqual([
    '1,234,567',
    '0.13',
    '-1,200',
    '0',
  ]);
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
  expect(ages.map(formatAge)).toEqual([
    'just now',
    '1 minute ago',
    '3 hours ago',
    '47 hours ago',
    '2 days ago',
  ]);
  expect([999, 58_000, 16_400_000, 25e9].map(formatBytes)).toEqual(['999 B', '58 kB', '16 MB', '25 GB']);
});

test('a count keeps all of its digits, and a fraction those that are no rounding of a sum', () => {
  expect(formatMeasured([1_234_567_890_123, 7])).toEqual(['1,234,567,890,123', '7']);
  expect(formatMeasured([9_007_199_254_740_991])).toEqual(['9,007,199,254,740,991']);
  expect(formatMeasured([0.1 + 0.2])).toEqual(['0.3']);
});

test('a word for a shell is quoted if necessary', () => {
  expect(['daywalk.db', 'my file.db', "it's.db", 'a;rm -rf x'].map(shellQuote)).toEqual([
    ...['daywalk.db', "'my file.db'", "'it'\\''s.db'", "'a;rm -rf x'"],
  ]);
});

describe('wrapped text', () => {
  const wrap = (text: string, width: number, linesMax = 9) =>
    wrapText(text, { width, lead: '  - ', linesMax });

  test('breaks between words, and within a word that fills a line by itself', () => {
    expect(wrap('GET /a/very/long/path: answered 500', 18)).toEqual([
      '  - GET',
      '    /a/very/long/p',
      '    ath: answered',
      '    500',
    ]);
  });

  test('loses only blanks, and fits', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '日', '👩‍💻'), minLength: 1 });
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 7, max: 30 }), (words, width) => {
        const lines = wrap(words.join(' '), width, 1_000);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(/[ -]/g, '')).toBe(words.join(''));
      }),
    );
  });

  test('is cut with a mark where it would be too long', () => {
    const lines = wrap('word '.repeat(50).trim(), 20, 3);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/…$/);
  });
});
