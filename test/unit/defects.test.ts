import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countIn, hunksOf, inTurn, parseDefect, readDefects } from '../support/structure/defects.ts';
import { ROOT } from '../support/structure/sources.ts';

const DEFECTS = readDefects();

test('there are thirty planted defects, and none is there twice', () => {
  expect(DEFECTS.length).toBeGreaterThanOrEqual(30);
  expect(new Set(DEFECTS.map(({ diff }) => diff)).size).toBe(DEFECTS.length);
  expect(new Set(DEFECTS.map(({ sentence }) => sentence)).size).toBe(DEFECTS.length);
});

// `npm run defects -- --write NAME` refreshes a patch; CONTRIBUTING.md says how.
describe.each(DEFECTS)('the planted defect $name', (defect) => {
  test('can be applied: each place that it changes is there once', () => {
    const hunks = hunksOf(defect);
    expect(hunks.length).toBeGreaterThan(0);
    for (const { file, before, after } of hunks) {
      expect(file).toMatch(/^(src|jobs|schema)\//);
      expect(before).not.toBe(after);
      expect([file, countIn(readFileSync(join(ROOT, file), 'utf8'), before)]).toEqual([file, 1]);
    }
  });

  test('is one sentence, and names a test that exists', () => {
    expect(defect.sentence).toMatch(/^[A-Z][^\n]{20,160}\.$/);
    expect(defect.test.startsWith(`test/${defect.project}/`)).toBe(true);
    expect(existsSync(join(ROOT, defect.test))).toBe(true);
  });
});

describe('a patch', () => {
  const header = 'A day is lost.\n\nFound by: unit test/unit/a.test.ts\n';
  const diff = `diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n`;

  test('is read into its parts', () => {
    const defect = parseDefect('day-lost', `${header}\n${diff}`);
    expect(defect).toEqual({
      name: 'day-lost',
      sentence: 'A day is lost.',
      project: 'unit',
      test: 'test/unit/a.test.ts',
      diff,
    });
    expect(hunksOf(defect)).toEqual([{ file: 'src/a.ts', before: 'one\ntwo\n', after: 'one\nthree\n' }]);
    expect(() => parseDefect('day-lost', diff)).toThrow('day-lost.patch has no line "Found by');
  });

  test('no longer applies when its lines have changed, or stand twice', () => {
    expect(
      ['one\ntwo\n', 'zone\ntwo\n', 'one\n2\n', 'one\ntwo\none\ntwo\n'].map((text) =>
        countIn(text, 'one\ntwo\n'),
      ),
    ).toEqual([1, 0, 0, 2]);
  });
});

test('five in turn: six turns have all of thirty, and the next one begins again', () => {
  const all = Array.from({ length: 30 }, (_, index) => index);
  const turns = Array.from({ length: 6 }, (_, turn) => inTurn(all, turn));
  expect(turns.every(({ length }) => length === 5)).toBe(true);
  expect(new Set(turns.flat())).toEqual(new Set(all));
  expect(inTurn(all, 6)).toEqual(inTurn(all, 0));
  expect(inTurn([1, 2], 1)).toHaveLength(2);
});
