import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daysFrom, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, isDailyStream, STREAMS } from '../../../src/core/stream.ts';
import { withLook } from '../../../src/judge/looks.ts';
import { notesText } from '../../../src/judge/notes.ts';
import { type PlanRequest, planUnits } from '../../../src/pipeline/plan.ts';
import {
  dayKey,
  type LedgerDay,
  type LedgerUnit,
  pendingUnit,
  readinessKey,
  UNIT_STATES,
  type UnitKey,
  unitName,
} from '../../../src/units/unit.ts';

const FIRST = parseDay('2026-02-20');
const TIME = { now: new Date('2026-04-10T03:00:00Z'), settleDays: 3 };

/** A day that has expired is told by the first day whose people are kept. */
const OPEN_STATES = UNIT_STATES.filter((state) => state !== 'expired');

const request: fc.Arbitrary<PlanRequest> = fc
  .record({
    start: fc.integer({ min: -5, max: 15 }),
    length: fc.integer({ min: 0, max: 12 }),
    streams: fc.subarray([...STREAMS]),
    force: fc.boolean(),
    newestFirst: fc.boolean(),
  })
  .map(({ start, length, ...rest }) => ({
    ...rest,
    firstDay: shiftDay(FIRST, start),
    lastDay: shiftDay(FIRST, start + length),
  }));

const ledger: fc.Arbitrary<LedgerUnit[]> = fc
  .uniqueArray(
    fc.record({
      stream: fc.constantFrom(...STREAMS),
      offset: fc.integer({ min: -8, max: 25 }),
      state: fc.constantFrom(...OPEN_STATES),
      settled: fc.boolean(),
    }),
    { selector: ({ stream, offset }) => `${stream} ${offset}`, maxLength: 80 },
  )
  .map((units) =>
    units.map(({ stream, offset, state, settled }) => {
      const key =
        stream === 'readiness'
          ? readinessKey('org_1')
          : dayKey('org_1', { stream, day: shiftDay(FIRST, offset) });
      return {
        ...pendingUnit<UnitKey>(key),
        state,
        settledAt: settled ? '2026-03-01T00:00:00.000Z' : null,
      };
    }),
  );

describe('the plan', () => {
  it('has the requested units that are not settled, each once', () => {
    fc.assert(
      fc.property(request, ledger, (asked, known) => {
        const { units } = planUnits(asked, known, TIME);
        const names = units.map(({ stream, day }) => `${day} ${stream}`);
        const expected = daysFrom(asked.firstDay, asked.lastDay).flatMap((day) =>
          asked.streams
            .filter(isDailyStream)
            .filter(
              (stream) =>
                asked.force ||
                !known.some((u) => u.stream === stream && u.day === day && u.settledAt !== null),
            )
            .map((stream) => `${day} ${stream}`),
        );
        expect(new Set(names).size).toBe(names.length);
        expect(names.toSorted()).toEqual(expected.toSorted());
      }),
    );
  });

  it('goes day by day from the oldest or the newest, with the streams of a day in the requested order', () => {
    fc.assert(
      fc.property(request, ledger, (asked, known) => {
        const { units } = planUnits(asked, known, TIME);
        const days = units.map(({ day }) => day);
        expect(days).toEqual(asked.newestFirst ? days.toSorted().reverse() : days.toSorted());
        for (const day of new Set(days)) {
          const streams = units.filter((unit) => unit.day === day).map(({ stream }) => stream);
          expect(streams).toEqual(
            asked.streams.filter((stream) => streams.some((other) => other === stream)),
          );
        }
      }),
    );
  });

  it('has the readiness reports whenever they are requested, whatever the ledger says', () => {
    fc.assert(
      fc.property(request, ledger, (asked, known) => {
        expect(planUnits(asked, known, TIME).readiness).toBe(asked.streams.includes('readiness'));
      }),
    );
  });

  it('does not depend on the order of the ledger, and does not change it', () => {
    fc.assert(
      fc.property(request, ledger, (asked, known) => {
        const before = JSON.stringify([asked, known]);
        expect(planUnits(asked, known.toReversed(), TIME)).toEqual(planUnits(asked, known, TIME));
        expect(JSON.stringify([asked, known])).toBe(before);
      }),
      { numRuns: 30 },
    );
  });

  it.each(OPEN_STATES)('pulls a unit that is %s again until it is settled', (state) => {
    const asked = {
      firstDay: FIRST,
      lastDay: FIRST,
      streams: ['tokens'] as const,
      force: false,
      newestFirst: false,
    };
    const unit = { ...pendingUnit(dayKey('org_1', { stream: 'tokens', day: FIRST })), state };
    expect(planUnits(asked, [unit], TIME).units).toHaveLength(1);
    expect(planUnits(asked, [{ ...unit, settledAt: '2026-03-01T00:00:00.000Z' }], TIME).units).toHaveLength(
      0,
    );
  });

  it('asks for no user of a day that has expired, and for one that a longer limit brings back', () => {
    const asked = {
      firstDay: FIRST,
      lastDay: shiftDay(FIRST, 1),
      streams: ['tokens', 'users'] as const,
      force: true,
      newestFirst: false,
    };
    const expired = [FIRST, shiftDay(FIRST, 1)].map((day) => ({
      ...pendingUnit(dayKey('org_1', { stream: 'users', day })),
      state: 'expired' as const,
      settledAt: '2026-03-01T00:00:00.000Z',
    }));
    const planned = (usersFrom: UtcDay | null, force: boolean) =>
      planUnits({ ...asked, force, usersFrom }, expired, TIME).units.flatMap(({ stream, day }) =>
        stream === 'users' ? [day] : [],
      );
    expect(planned(shiftDay(FIRST, 2), true)).toEqual([]);
    expect(planned(shiftDay(FIRST, 2), false)).toEqual([]);
    expect(planned(shiftDay(FIRST, 1), false)).toEqual([shiftDay(FIRST, 1)]);
    expect(planned(null, false)).toEqual([FIRST, shiftDay(FIRST, 1)]);
  });

  it('is empty for a reversed range', () => {
    const asked = {
      firstDay: FIRST,
      lastDay: shiftDay(FIRST, -1),
      streams: DAILY_STREAMS,
      force: true,
      newestFirst: false,
    };
    expect(planUnits(asked, [], TIME)).toEqual({ units: [], settled: 0, looks: new Set(), readiness: false });
  });

  const ASKED = {
    firstDay: FIRST,
    lastDay: shiftDay(FIRST, 10),
    streams: ['tokens'] as const,
    force: false,
    newestFirst: false,
  };
  /** Ten days after the first one. */
  const NOW = new Date(`${shiftDay(FIRST, 10)}T03:00:00Z`);
  const seenAt = (offset: number, at: string, record: Partial<LedgerDay> = {}): LedgerDay => ({
    ...pendingUnit(dayKey('org_1', { stream: 'tokens', day: shiftDay(FIRST, offset) })),
    state: 'loaded',
    contentSha256: 'a'.repeat(64),
    watch: notesText(withLook({}, 'a'.repeat(64), new Date(at))),
    ...record,
  });
  const asked = (unit: LedgerDay) => {
    const { units, looks } = planUnits({ ...ASKED, lastDay: unit.day, firstDay: unit.day }, [unit], {
      ...TIME,
      now: NOW,
    });
    return units.length === 0 ? 'not now' : looks.has(unitName(unit)) ? 'look' : 'pull';
  };

  it('asks a unit of settling age again only if its look would count', () => {
    const [today, lately, before] = ['2026-03-02T01:00:00Z', '2026-03-01T20:00:00Z', '2026-03-01T03:00:00Z'];
    expect(asked(seenAt(2, today))).toBe('not now');
    expect(asked(seenAt(2, lately))).toBe('not now');
    expect(asked(seenAt(2, before))).toBe('look');
    expect(asked(seenAt(2, before, { state: 'awaiting' }))).toBe('look');
  });

  it('asks a young unit in every run, and the day that becomes old enough together with it', () => {
    const today = '2026-03-02T01:00:00Z';
    expect(asked(seenAt(8, today))).toBe('pull');
    expect(asked(seenAt(7, '2026-03-01T03:00:00Z'))).toBe('pull');
  });

  it('asks what is unclear in every run', () => {
    const today = '2026-03-02T01:00:00Z';
    for (const state of ['failed', 'quarantined', 'doubted'] as const)
      expect(asked(seenAt(2, today, { state }))).toBe('pull');
    expect(asked(seenAt(2, today, { state: 'awaiting', lastError: 'too early' }))).toBe('pull');
    expect(asked(seenAt(2, today, { watch: notesText({ due: true }) }))).toBe('pull');
    expect(asked(seenAt(2, today, { watch: null }))).toBe('pull');
  });
});
