import { expect, test } from 'vitest';
import { daysFrom, FIRST_DAY, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, STREAMS, type Stream } from '../../../src/core/stream.ts';
import { WHOLE } from '../../../src/expected/contract.ts';
import { expectationOf } from '../../../src/expected/expectation.ts';
import { dayKey, type LedgerUnit, pendingUnit, type UnitState } from '../../../src/units/unit.ts';

const TODAY = parseDay('2026-01-20');
const DAY = parseDay('2026-01-16');

/** A ledger in which everything is loaded except one unit. */
function ledgerWith(change: Partial<Pick<LedgerUnit, 'state' | 'rows' | 'firstLoadedAt'>> | null) {
  return DAILY_STREAMS.flatMap((stream) =>
    daysFrom(FIRST_DAY, shiftDay(TODAY, -1)).flatMap((day): LedgerUnit[] => {
      const unit = { ...pendingUnit(dayKey('org_1', { stream, day })), state: 'loaded' as UnitState };
      if (stream !== 'tools' || day !== DAY) return [unit];
      return change === null ? [] : [{ ...unit, ...change }];
    }),
  );
}

function missingDays(units: readonly LedgerUnit[], today: UtcDay) {
  const now = new Date(`${today}T12:00:00Z`);
  return expectationOf({ contract: WHOLE, contractSince: null, units, completions: new Map(), now }).missing;
}

const stored = { rows: 3, firstLoadedAt: '2026-01-17T03:00:00.000Z' };

test.each([
  ['that is absent', null, 'pending'],
  ['that is pending', { state: 'pending' as const }, 'pending'],
  ['that failed', { state: 'failed' as const }, 'failed'],
  ['that failed after it was stored', { state: 'failed' as const, ...stored }, null],
  ['that is awaiting', { state: 'awaiting' as const }, null],
  ['that is doubted', { state: 'doubted' as const, ...stored }, null],
  ['that is quarantined', { state: 'quarantined' as const }, null],
  ['that is empty', { state: 'empty' as const }, null],
])('of a unit %s, its day is missing only if nothing is stored', (_, change, expected) => {
  const found = expected === null ? [] : [{ stream: 'tools', day: DAY, state: expected }];
  expect(missingDays(ledgerWith(change), TODAY)).toEqual(found);
  // Two days after its end it may still come.
  expect(missingDays(ledgerWith(change), shiftDay(TODAY, -1))).toEqual([]);
});

test('the export was last complete when its slowest expected stream was, and never while one of them never was', () => {
  const span = (day: string) => ({ startedAt: `${day}T03:00:00.000Z`, endedAt: `${day}T04:00:00.000Z` });
  const lastComplete = (streams: readonly Stream[], completed: readonly (readonly [number, string])[]) => {
    const completions = new Map(
      completed.map(([index, day]) => [STREAMS[index] ?? 'users', span(day)] as const),
    );
    const now = new Date(`${TODAY}T12:00:00Z`);
    const facts = { contract: { ...WHOLE, streams }, contractSince: null, units: [], completions, now };
    return expectationOf(facts).lastComplete;
  };
  const all = STREAMS.map((_, index) => [index, index === 1 ? '2026-01-18' : '2026-01-19'] as const);
  expect(lastComplete(STREAMS, all)).toEqual(span('2026-01-18'));
  expect(lastComplete(STREAMS, all.slice(1))).toBeNull();
  // What nobody expects is not waited for.
  expect(lastComplete(STREAMS.slice(1), all.slice(1))).toEqual(span('2026-01-18'));
});
