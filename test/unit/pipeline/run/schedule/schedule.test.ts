import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daysFrom, parseDay, shiftDay } from '../../../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../../../src/core/stream.ts';
import { Schedule } from '../../../../../src/pipeline/run/schedule.ts';
import type { DayUnit } from '../../../../../src/units/unit.ts';

const FIRST = parseDay('2026-02-01');
const unitsOf = (days: number): DayUnit[] =>
  daysFrom(FIRST, shiftDay(FIRST, days - 1)).flatMap((day) =>
    DAILY_STREAMS.map((stream) => ({ stream, day })),
  );

function takeAll(schedule: Schedule, daysMax: number) {
  const taken = [];
  for (let batch = schedule.take(() => daysMax); batch !== undefined; batch = schedule.take(() => daysMax)) {
    taken.push(batch);
  }
  return taken;
}

const named = ({ stream, day }: DayUnit) => `${stream} ${day}`;

describe('the order of a run', () => {
  it('returns every unit once, in batches without gaps and no longer than requested', () => {
    fc.assert(
      fc.property(
        fc.subarray(unitsOf(12)),
        fc.integer({ min: 1, max: 15 }),
        fc.boolean(),
        (units, daysMax, newestFirst) => {
          const ordered = newestFirst ? units.toReversed() : units;
          const schedule = new Schedule(ordered, { newestFirst });
          const taken = takeAll(schedule, daysMax);
          const handed = taken.flatMap(({ stream, days }) => days.map((day) => named({ stream, day })));
          expect(handed.toSorted()).toEqual(units.map(named).toSorted());
          for (const { days } of taken) {
            expect(days.length).toBeLessThanOrEqual(daysMax);
            expect(days).toEqual(daysFrom(days[0], days.at(-1) ?? days[0]));
          }
          expect(schedule.isEmpty).toBe(true);
        },
      ),
    );
  });

  it.each([[false], [true]])('puts units back in their place, newest first: %s', (newestFirst) => {
    const units = newestFirst ? unitsOf(6).toReversed() : unitsOf(6);
    const untouched = takeAll(new Schedule(units, { newestFirst }), 2);
    const schedule = new Schedule(units, { newestFirst });
    const refused = schedule.take(() => 5);
    if (refused === undefined) throw new Error('nothing was handed out');
    schedule.putBack(refused.stream, refused.days);
    expect(takeAll(schedule, 2)).toEqual(untouched);
  });

  it('returns units that are only compared along with their neighbours, or after all others', () => {
    fc.assert(
      fc.property(
        fc.subarray(unitsOf(12)),
        fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
        fc.integer({ min: 1, max: 15 }),
        fc.boolean(),
        (units, flags, daysMax, newestFirst) => {
          const watched = new Set(unitsOf(12).flatMap((unit, index) => (flags[index] ? [named(unit)] : [])));
          const isCompared = (unit: DayUnit) => watched.has(named(unit));
          const ordered = newestFirst ? units.toReversed() : units;
          const taken = takeAll(new Schedule(ordered, { newestFirst, isCompared }), daysMax);
          const handed = taken.flatMap(({ stream, days }) => days.map((day) => ({ stream, day })));
          expect(handed.map(named).toSorted()).toEqual(units.map(named).toSorted());
          const isLook = taken.map(({ stream, days }) => days.every((day) => isCompared({ stream, day })));
          expect(isLook).toEqual(isLook.toSorted());
          for (const { days } of taken) {
            expect(days.length).toBeLessThanOrEqual(daysMax);
            expect(days).toEqual(daysFrom(days[0], days.at(-1) ?? days[0]));
          }
        },
      ),
    );
  });

  it('fills up a batch with days that are only compared', () => {
    const days = daysFrom(FIRST, shiftDay(FIRST, 9));
    const units = days.map((day): DayUnit => ({ stream: 'tools', day }));
    const isCompared = ({ day }: DayUnit) => day < shiftDay(FIRST, 8);
    for (const newestFirst of [false, true]) {
      const ordered = newestFirst ? units.toReversed() : units;
      const taken = takeAll(new Schedule(ordered, { newestFirst, isCompared }), 4);
      expect(taken.map(({ days: [first] }) => first)).toEqual(
        (newestFirst ? [6, 2, 0] : [6, 0, 4]).map((offset) => shiftDay(FIRST, offset)),
      );
    }
  });

  it('goes through the days, the streams in turn', () => {
    const taken = takeAll(new Schedule(unitsOf(2), { newestFirst: false }), 1);
    expect(taken.map(({ stream, days }) => `${stream} ${days[0]}`)).toEqual(unitsOf(2).map(named));
  });

  it('begins with the newest days on request', () => {
    const units = unitsOf(10).toReversed();
    const [first] = takeAll(new Schedule(units, { newestFirst: true }), 4);
    expect(first?.days).toEqual(daysFrom(shiftDay(FIRST, 6), shiftDay(FIRST, 9)));
  });

  it('puts units to retry in front', () => {
    const schedule = new Schedule(unitsOf(3), { newestFirst: false });
    schedule.putFirst('users', [shiftDay(FIRST, 30), shiftDay(FIRST, 31), shiftDay(FIRST, 40)], 2);
    const lengths = takeAll(schedule, 9).slice(0, 2);
    expect(lengths.map(({ days }) => days.length)).toEqual([2, 1]);
  });

  it.each([{ newestFirst: false }, { newestFirst: true }])(
    'keeps the unit whose first page is already loaded out of ranges, at its place in the order: %o',
    (order) => {
      const units = unitsOf(3);
      const last = shiftDay(FIRST, 2);
      const alone = { stream: 'tokens', day: last } as const;
      expect(
        new Schedule(
          units.filter(({ day }) => day !== last),
          order,
        ).keepAlone(alone),
      ).toBe(false);
      const schedule = new Schedule(order.newestFirst ? units.toReversed() : units, order);
      expect(schedule.keepAlone(alone)).toBe(true);
      const tokens = takeAll(schedule, 31).filter(({ stream }) => stream === 'tokens');
      const expected = [
        { stream: 'tokens', days: [FIRST, shiftDay(FIRST, 1)] },
        { stream: 'tokens', days: [last] },
      ];
      expect(tokens).toEqual(order.newestFirst ? expected.toReversed() : expected);
    },
  );
});
