// @module-tag campaign/answers

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byKey } from '../../../../schema/row.ts';
import { DaywalkError } from '../../../../src/core/errors.ts';
import { isExact, isObject, isStorable } from '../../../../src/core/json.ts';
import { DAILY_STREAMS, type Stream } from '../../../../src/core/stream.ts';
import { type Normalized, normalize } from '../../../support/pipeline/normalize.ts';
import { report, rowOf } from '../../../support/random/api-rows.ts';
import { answersMax } from '../../../support/suite/campaign-length.ts';

const DAMAGES = answersMax(400, 100);
const STREAMS: readonly Stream[] = [...DAILY_STREAMS, 'readiness'];
const rowArbitrary = (stream: Stream) => (stream === 'readiness' ? report : rowOf[stream]);

/** A text as it may arrive when something went wrong on the way: a few characters changed, dropped or put in. */
const damage = fc.array(
  fc.record({
    at: fc.nat({ max: 2000 }),
    drop: fc.nat({ max: 2 }),
    put: fc.constantFrom(
      '',
      '0',
      '9',
      '-',
      '.',
      'e9',
      'e999',
      '"',
      '\\u0000',
      '\\ud800',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      'x',
      ' ',
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

function damaged(text: string, changes: readonly { at: number; drop: number; put: string }[]): string {
  return changes.reduce((current, { at, drop, put }) => {
    const index = at % (current.length + 1);
    return current.slice(0, index) + put + current.slice(index + drop);
  }, text);
}

/** True for answers that reach validation: other bytes than UTF-8 and other texts than JSON are refused before. */
function parses(text: string): boolean {
  try {
    return text.isWellFormed() && Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

/** The result of an answer; null if it is refused as a whole. */
function outcomeOf(stream: Stream, text: string): Normalized | null {
  try {
    return normalize(stream, text);
  } catch (error) {
    // Sums that cannot be kept exactly; anything else would be a defect.
    expect(error).toBeInstanceOf(DaywalkError);
    return null;
  }
}

/** Every row can be stored, and every key is there once. */
function expectStorable({ tables, findings }: Normalized): void {
  for (const { table, rows } of tables) {
    const compare = byKey(table);
    const kinds = Object.values(table.columns).map(({ kind }) => kind);
    for (const [index, row] of rows.entries()) {
      expect(row).toHaveLength(kinds.length);
      expect(index === 0 || compare(rows[index - 1] ?? [], row) < 0).toBe(true);
      for (const [column, value] of row.entries()) {
        const isNumber = ['metric', 'flag'].includes(kinds[column] ?? '');
        expect(value === null || typeof value === (isNumber ? 'number' : 'string')).toBe(true);
        expect(isExact(value) && isStorable(value)).toBe(true);
        if (kinds[column] === 'json' && value !== null)
          expect(isObject(JSON.parse(String(value)))).toBe(true);
      }
    }
  }
  for (const record of findings.quarantined) {
    expect(() => JSON.parse(record.record)).not.toThrow();
    expect(isStorable([record.record, record.reason, record.path])).toBe(true);
  }
  for (const { path, sample } of findings.drift) expect(isStorable([path, sample])).toBe(true);
}

describe.each(STREAMS)('a damaged answer about %s', (stream) => {
  it('becomes rows that can be stored and quarantined records, never a crash', () => {
    let parsed = 0;
    fc.assert(
      fc.property(rowArbitrary(stream), damage, (row, changes) => {
        const text = damaged(JSON.stringify([row]), changes);
        if (!parses(text)) return;
        parsed += 1;
        const outcome = outcomeOf(stream, text);
        if (outcome !== null) expectStorable(outcome);
      }),
      // Found as it came: a damaged text shrinks to nothing for minutes.
      { numRuns: DAMAGES, endOnFailure: true },
    );
    // Much of what is damaged still parses: parsing proves little.
    expect(parsed).toBeGreaterThan(DAMAGES / 10);
  });

  it('loses no row without quarantining it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(rowArbitrary(stream), fc.jsonValue({ maxDepth: 3 })), { maxLength: 4 }),
        (rows) => {
          const outcome = outcomeOf(stream, JSON.stringify(rows));
          if (outcome === null) return;
          expectStorable(outcome);
          const kept = new Set(outcome.tables[0]?.rows.map((row) => JSON.stringify(row))).size;
          const aside = outcome.findings.quarantined.length;
          if (rows.length > 0) expect(kept + aside).toBeGreaterThan(0);
        },
      ),
      { numRuns: answersMax(150, 50), endOnFailure: true },
    );
  });
});
