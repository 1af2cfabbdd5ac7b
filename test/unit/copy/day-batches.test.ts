// @module-tag campaign/answers

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayBatches } from '../../../src/copy/move.ts';
import type { UnitPair } from '../../../src/copy/sides.ts';
import { daysFrom, FIRST_DAY, shiftDay } from '../../../src/core/day.ts';
import { dayKey, pendingUnit } from '../../../src/units/unit.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const DAYS = daysFrom(FIRST_DAY, shiftDay(FIRST_DAY, 39));
const ROWS_MAX = 20_000;

interface Drawn {
  readonly isThere: boolean;
  readonly isSame: boolean;
  readonly rows: number;
}

const drawn: fc.Arbitrary<Drawn[]> = fc.array(
  fc.record({
    isThere: fc.boolean(),
    isSame: fc.boolean(),
    rows: fc.oneof(fc.nat({ max: 9_000 }), fc.constant(60_000)),
  }),
  { maxLength: DAYS.length },
);

function pairsOf(list: readonly Drawn[]): UnitPair[] {
  return DAYS.flatMap((day, index) => {
    const { isThere = false, isSame, rows = 0 } = list[index] ?? {};
    if (!isThere) return [];
    const source = { ...pendingUnit(dayKey('org_1', { stream: 'users', day })), rows };
    return [{ stream: 'users', day, source, stored: isSame === true ? { ...source } : null }];
  });
}

test('batches have every differing unit once, and no day is in two of them', () => {
  fc.assert(
    fc.property(drawn, fc.boolean(), (list, all) => {
      const pairs = pairsOf(list);
      const batches = dayBatches(pairs, { all });
      const open = pairs.filter(({ stored }) => all || stored === null);
      expect(batches.flatMap((batch) => batch.pairs)).toEqual(open);
      const isIn = (day: string) =>
        batches.filter(({ firstDay = '', lastDay = '9' }) => firstDay <= day && day <= lastDay);
      for (const { day } of pairs)
        expect(isIn(day)).toHaveLength(open.some((pair) => pair.day === day) ? 1 : 0);
      for (const day of DAYS) expect(isIn(day).length).toBeLessThanOrEqual(1);
      // A day that no ledger knows is looked at with its neighbours.
      if (all && pairs.length > 0)
        for (const day of ['2025-01-01', ...DAYS, '2030-01-01']) expect(isIn(day)).toHaveLength(1);
    }),
    { numRuns: answersMax(500, 100) },
  );
});

test('a batch has at most the allowed rows, or a single day', () => {
  fc.assert(
    fc.property(drawn, (list) => {
      for (const { pairs } of dayBatches(pairsOf(list), { all: true })) {
        const rows = pairs.reduce((sum, { source }) => sum + (source?.rows ?? 0), 0);
        expect(pairs.length === 1 || rows <= ROWS_MAX).toBe(true);
      }
    }),
    { numRuns: answersMax(500, 100) },
  );
});
