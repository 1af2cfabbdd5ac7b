import { describe, expect, it } from 'vitest';
import { parseDay, shiftDay } from '../../../../../src/core/day.ts';
import type { DailyStream } from '../../../../../src/core/stream.ts';
import { RangeGauge, rowsPerDay } from '../../../../../src/pipeline/run/range-gauge.ts';
import { dayKey, type LedgerUnit, pendingUnit } from '../../../../../src/units/unit.ts';

const known = (rows: number) =>
  new Map<DailyStream, number>([
    ['tokens', rows],
    ['users', rows],
  ]);

/** Requests ranges until the service answers, and returns the refused ranges. */
function askUntilAnswered(gauge: RangeGauge, allowedDays: number): { days: number; refused: number[] } {
  const refused: number[] = [];
  for (;;) {
    const days = gauge.daysFor('tokens');
    gauge.recordTaken(days);
    if (days <= allowedDays) {
      gauge.recordAnswer('tokens', { days, rows: days, ms: 10 });
      return { days, refused };
    }
    gauge.recordRefusal(days);
    refused.push(days);
  }
}

describe('the number of days per request', () => {
  it('begins with one day for an unknown stream', () => {
    expect(new RangeGauge(31, new Map()).daysFor('users')).toBe(1);
  });

  it.each([
    [10, 31],
    [1_000, 8],
    [8_001, 1],
    [1_000_000, 1],
  ])('keeps memory bounded: for %i rows per day %i days', (rows, days) => {
    expect(new RangeGauge(31, known(rows)).daysFor('users')).toBe(days);
  });

  it.each([
    [31, 31, []],
    [28, 15, [31]],
    [7, 7, [31, 15]],
    [1, 1, [31, 15, 7, 3]],
  ])(
    'is halved while the service refuses: if %i are allowed, it becomes %i, and is not tried again',
    (allowed, days, refused) => {
      const gauge = new RangeGauge(31, known(1));
      expect(askUntilAnswered(gauge, allowed)).toEqual({ days, refused });
      expect(askUntilAnswered(gauge, allowed)).toEqual({ days, refused: [] });
    },
  );

  it('is estimated from a page that came before, unless the ledger knows the stream', () => {
    const gauge = new RangeGauge(31, new Map([['users', 4_000]]));
    gauge.expectRows('tokens', 480_000);
    gauge.expectRows('users', 1_000);
    expect([gauge.daysFor('tokens'), new RangeGauge(31, new Map()).daysFor('tokens')]).toEqual([2, 1]);
    gauge.recordTaken(2);
    gauge.recordAnswer('tokens', { days: 2, rows: 20, ms: 10 });
    expect(gauge.daysFor('users')).toBe(2);
  });

  it('grows by trying one long range at a time, so that few are refused', () => {
    const gauge = new RangeGauge(31, known(1));
    expect([gauge.daysFor('tokens'), gauge.daysFor('users'), gauge.daysFor('tokens')]).toEqual([31, 1, 1]);
    gauge.recordTaken(31);
    expect(gauge.daysFor('users')).toBe(1);
    gauge.recordTaken(1);
    gauge.recordAnswer('tokens', { days: 31, rows: 31, ms: 10 });
    expect(gauge.daysFor('users')).toBe(31);
  });

  it('is tried again when another worker took the range of the trial', () => {
    const gauge = new RangeGauge(31, known(1));
    expect(gauge.daysFor('tokens')).toBe(31);
    gauge.recordTaken(0);
    expect(gauge.daysFor('users')).toBe(31);
  });

  it('is not reduced by one refusal when a range of that length was answered before', () => {
    const gauge = new RangeGauge(31, known(1));
    askUntilAnswered(gauge, 31);
    gauge.recordRefusal(31);
    expect(gauge.daysFor('tokens')).toBe(31);
  });

  it('is not reduced for later runs by a refusal of a range of which a day is refused alone', () => {
    const gauge = new RangeGauge(31, known(1));
    const learned = askUntilAnswered(gauge, 7);
    gauge.recordRefusedDay();
    expect([learned.days, gauge.daysFor('tokens')]).toEqual([7, 7]);
    expect(gauge.learned).toEqual({ days: 7, isRefused: false });
  });

  it('stays as short as an earlier run has learned when a day is refused alone', () => {
    const gauge = new RangeGauge(31, known(1), { days: 7, refusedOn: parseDay('2026-02-01') });
    gauge.recordRefusedDay();
    expect([gauge.daysFor('tokens'), gauge.learned]).toEqual([7, { days: 7, isRefused: true }]);
  });

  it('follows the received rows: a growing stream gets shorter ranges', () => {
    const gauge = new RangeGauge(31, known(1));
    gauge.recordAnswer('users', { days: 1, rows: 4_000, ms: 10 });
    expect(gauge.daysFor('users')).toBe(2);
  });

  it('is halved for a stream with slow answers', () => {
    const gauge = new RangeGauge(31, known(1));
    gauge.recordAnswer('users', { days: 31, rows: 31, ms: 9_000 });
    expect(gauge.daysFor('users')).toBe(15);
    expect(gauge.daysFor('tokens')).toBe(31);
  });
});

describe('the size of a day in the ledger', () => {
  const first = parseDay('2026-02-01');
  const unit = (offset: number, rows: number, stream: DailyStream = 'users'): LedgerUnit => ({
    ...pendingUnit(dayKey('org_1', { stream, day: shiftDay(first, offset) })),
    rows,
  });

  it('is the largest of the latest days with rows', () => {
    const ledger = [unit(0, 900), ...Array.from({ length: 14 }, (_, n) => unit(n + 1, n + 1)), unit(20, 0)];
    expect([...rowsPerDay(ledger)]).toEqual([['users', 14]]);
  });

  it('is unknown for a stream without rows', () => {
    expect(rowsPerDay([unit(0, 0)])).toEqual(new Map());
  });
});
