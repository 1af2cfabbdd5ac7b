// @module-tag campaign/answers

import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { byKey, compareUtf8, inKeyOrder } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const db = new Sqlite(':memory:');
afterAll(() => void db.close());

/** Texts from the corners where UTF-16 and UTF-8 disagree about the order. */
const texts = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', '\u007f', '\u0080', '\uD7FF', '\uE000', '\uFFFD', '\u{10000}', '\u{10FFFF}'),
    maxLength: 5,
  }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((text) => text.isWellFormed() && !text.includes('\0')),
);

describe('the order of texts', () => {
  it('is that of SQLite', () => {
    const compare = db.prepare<{ a: string; b: string }, number>('SELECT (@a > @b) - (@a < @b)').pluck();
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(compare.get({ a, b }));
      }),
      { numRuns: answersMax(2_000, 400) },
    );
  });

  it('is that of the UTF-8 bytes', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: answersMax(2_000, 400) },
    );
  });

  it('puts a character beyond the first plane after one from U+E000 on', () => {
    expect('\u{1F600}' < '\uE000').toBe(true);
    expect(compareUtf8('\u{1F600}', '\uE000')).toBeGreaterThan(0);
    expect(compareUtf8('a\u{1F600}', 'a\uFF5E')).toBeGreaterThan(0);
  });
});

describe('the order of rows', () => {
  const rows = fc.array(
    fc
      .tuple(texts, texts, texts)
      .map(([event, matcher, command]) => ['org_1', '2026-02-01', event, matcher, command, 1, null]),
    { maxLength: 30 },
  );

  it('is the key order of SQLite', () => {
    db.exec('CREATE TABLE t (n INTEGER, a TEXT, b TEXT, c TEXT)');
    const insert = db.prepare('INSERT INTO t VALUES (?, ?, ?, ?)');
    const read = db.prepare<[], number>('SELECT n FROM t ORDER BY a, b, c, n').pluck();
    fc.assert(
      fc.property(rows, (list) => {
        db.exec('DELETE FROM t');
        for (const [index, row] of list.entries()) insert.run(index, row[2], row[3], row[4]);
        const sorted = inKeyOrder(tables.toolsDailyByHook, list);
        expect(sorted).toEqual(read.all().map((index) => list[index]));
      }),
    );
  });

  it('returns sorted rows unchanged, and never changes its input', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const before = [...list];
        const sorted = inKeyOrder(tables.toolsDailyByHook, list);
        expect(list).toEqual(before);
        expect(inKeyOrder(tables.toolsDailyByHook, sorted)).toBe(sorted);
      }),
    );
  });

  it('depends only on the key', () => {
    const compare = byKey(tables.tokensDailyByModel);
    expect(compare(['o', 'd', 'm', 'tier b', 1], ['o', 'd', 'm', 'tier a', 2])).toBe(0);
    expect(compare(['o', 'd', 'a', 'x'], ['o', 'e', '0', 'x'])).toBeLessThan(0);
  });
});
