import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import type { RunRequest } from '../../support/rig/rig.ts';
import { type AdversaryWorld, FRUGAL, settledWorld } from '../../support/trust/settled-world.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const FIRST = parseDay('2026-03-20');
const OLD = parseDay('2026-02-05');
const THREE_DAYS = ['2026-03-10', '2026-03-11', '2026-03-12'];

/** Runs a night in which some days of tools are answered otherwise, or as they are stored. */
function nightsAbout({ service, night }: AdversaryWorld, days: readonly string[]) {
  return (number: number, isOther: boolean, settings: Partial<Settings> = {}, request: RunRequest = {}) => {
    service.lie = {
      rows: (stream, rows) =>
        rows.map((row) =>
          stream === 'tools' && isOther && days.includes(String(row['date']))
            ? { ...row, autonomy_ratio_p50: 0.5 }
            : row,
        ),
    };
    return night(number, { ...FRUGAL, ...settings }, request);
  };
}

onDatabase(sqlite, () => {
  it('a service that alternates about one settled day is named, and changes nothing', {
    tags: 'ci/again',
  }, async () => {
    const world = await settledWorld(sqlite, { first: FIRST });
    const states = new Set<string>();
    for (let number = 3; number <= 10; number += 1) {
      const isWrong = number % 2 === 1;
      world.service.lie = isWrong
        ? {
            rows: (stream, rows) =>
              rows.map((row) =>
                stream === 'users' && row['date'] === OLD ? { ...row, messages: 777 } : row,
              ),
          }
        : {};
      await world.night(number, FRUGAL);
      for (const { state } of (await world.status(number)).open) states.add(state);
      expect(Number(await world.rig.value('SELECT COUNT(*) FROM user_daily WHERE messages = 777'))).toBe(0);
    }
    expect([...states]).toContain('unstable');
  });

  it.for([3, 4, 5])(
    'a service that keeps each of two answers for %d nights is named when the first one is back',
    { tags: 'ci/again' },
    async (each) => {
      const world = await settledWorld(sqlite, { first: FIRST });
      const stored = () =>
        world.rig.column<number>("SELECT autonomy_ratio_p50 FROM tools_daily WHERE date >= '2026-03-10'");
      const night = nightsAbout(world, THREE_DAYS);
      // A correction that lasts is stored, and no alarm.
      for (let number = 3; number < 3 + each; number += 1) expect(await night(number, true)).toBe(0);
      expect(await stored()).toContain(0.5);
      const back = 3 + each;
      for (let number = back; number < back + each; number += 1) expect(await night(number, false)).toBe(5);
      expect((await world.status(back + each - 1)).open.map(({ state }) => state)).toContain('flapping');
      for (let number = back + each; number < back + each + 3; number += 1)
        expect(await night(number, true)).toBe(5);
    },
  );

  it.for([
    // Named until three nights after the last flip, as with a clock that is right.
    ['ahead', 40, [5, 5, 5, 5, 5, 0, 0]],
    // The looks before it are not forgotten.
    ['behind', -40, [5, 5, 5, 5, 5, 0, 0]],
  ] as const)(
    'a service that alternates on a night with a clock that is 40 days %s is not named for ever',
    { tags: 'ci/rare' },
    async ([, off, exits]) => {
      const world = await settledWorld(sqlite, { first: FIRST });
      const night = nightsAbout(world, THREE_DAYS);
      for (const number of [3, 4]) expect(await night(number, true)).toBe(0);
      const clock = systemClock(new Date(`${shiftDay(FIRST, 5 + off)}T03:00:00Z`));
      await night(5, false, {}, { clock, until: shiftDay(FIRST, 4) });
      const seen: number[] = [];
      for (const index of exits.keys()) seen.push(await night(6 + index, false));
      expect(seen).toEqual(exits);
    },
  );

  it('what has begun to differ is also compared while the watch is off, so that it ends', {
    tags: 'ci/variant',
  }, async () => {
    const world = await settledWorld(sqlite, { first: FIRST });
    const night = nightsAbout(world, THREE_DAYS.slice(1));
    const off = { watchDays: 0 };
    for (const number of [3, 4]) expect(await night(number, true)).toBe(0);
    expect(await night(5, false)).toBe(5);
    expect(await night(6, false, off)).toBe(5);
    expect(await night(7, false, off)).toBe(0);
    expect((await world.status(7)).open).toEqual([]);
    // The days do not differ now, so that nothing is compared any more.
    expect(await night(8, true, off)).toBe(0);
    expect((await world.status(8)).open).toEqual([]);
  });
});
