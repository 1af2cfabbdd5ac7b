// @module-tag campaign/rehearsal

import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { sequence } from '../../support/random/seed.ts';
import { expectedExits, expectedIncidents } from '../../support/rehearsal/expected.ts';
import {
  changesServices,
  drawPlan,
  NIGHTS_MIN,
  type Plan,
  type Scene,
} from '../../support/rehearsal/plan.ts';
import { NAMES, SCENE_KINDS } from '../../support/rehearsal/scenes.ts';

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

/** A plan of one scene. */
function planOf(scene: Partial<Scene> & Pick<Scene, 'what' | 'night' | 'until'>): Plan {
  return {
    nights: 30,
    scenes: [{ organizations: ['sales'], streams: DAILY_STREAMS, day: null, ...scene }],
  };
}

describe('the plan of a rehearsal', () => {
  test.each([NIGHTS_MIN, 90])(
    'has every kind of scene in %i nights, and one night of rest after each',
    (nights) => {
      for (const seed of SEEDS) {
        const { scenes } = drawPlan(nights, sequence(seed));
        expect(new Set(scenes.map(({ what }) => what))).toEqual(new Set(Object.keys(SCENE_KINDS)));
        for (const name of NAMES) {
          const own = scenes.filter(
            ({ what, organizations }) => changesServices(SCENE_KINDS[what]) && organizations.includes(name),
          );
          for (const [index, { night, until }] of own.entries()) {
            expect(until).toBeLessThanOrEqual(nights);
            expect(night).toBeGreaterThan(own[index - 1]?.until ?? 3);
          }
        }
      }
    },
  );

  test('changes no day of an organization twice, and has no upgrade between the looks at a restated day', () => {
    for (const seed of SEEDS) {
      const { scenes } = drawPlan(NIGHTS_MIN, sequence(seed));
      const days = scenes.flatMap(({ day, organizations }) => organizations.map((name) => `${name} ${day}`));
      const changed = days.filter((day) => !day.endsWith('null'));
      expect(changed.length).toBe(new Set(changed).size);
      const upgrade = scenes.find(({ what }) => what === 'upgrade')?.night ?? 0;
      const between = scenes.filter(
        ({ what, night, until }) => what === 'restated settled day' && night < upgrade && upgrade < until,
      );
      expect(between).toEqual([]);
    }
  });

  test('is the same for the same seed, and another one for another', () => {
    expect(drawPlan(90, sequence(7))).toEqual(drawPlan(90, sequence(7)));
    expect(drawPlan(90, sequence(7))).not.toEqual(drawPlan(90, sequence(8)));
  });

  test('is refused if it has no room for every kind of scene', () => {
    expect(() => drawPlan(NIGHTS_MIN - 1, sequence(1))).toThrow('at least 20 nights, not 19');
  });
});

describe('what must follow from a plan', () => {
  test('of a week without a valid key: a failed run, and every day that nobody could pull within three days', () => {
    const plan = planOf({ what: 'key revoked', night: 4, until: 11 });
    expect(expectedIncidents(plan)).toEqual(
      [
        'sales: run-failed 3, nights 4 to 11',
        // The first night takes place on 2 February, so the fourth misses 4 February.
        ...DAILY_STREAMS.flatMap((stream) =>
          [7, 8, 9, 10].map(
            (night) => `sales: day-missing ${stream} 2026-02-0${night - 3}, nights ${night} to 11`,
          ),
        ),
      ].toSorted(),
    );
    expect([3, 4, 10, 11].map((night) => expectedExits(plan, night))).toEqual([
      ...['0 0 0', '0 3 0', '0 3 0', '0 0 0'],
    ]);
  });

  test('of a lost day: a failed run and a doubted loss', () => {
    const day = parseDay('2026-02-03');
    const plan = planOf({ what: 'lost day', night: 4, until: 6, streams: ['tools'], day });
    expect(expectedIncidents(plan)).toEqual([
      'sales: loss-doubted tools 2026-02-03, nights 4 to 6',
      'sales: run-failed 5, nights 4 to 6',
    ]);
  });

  test('of a restated settled day: nothing in the first night, a restatement in the second', () => {
    const plan = planOf({
      ...{ what: 'restated settled day', night: 14, until: 16 },
      ...{ streams: ['tools'], day: parseDay('2026-02-05') },
    });
    expect(expectedIncidents(plan)).toEqual([
      'sales: restatement tools 2026-02-05, nights 15 to the next run',
    ]);
    expect(expectedExits(plan, 14)).toBe('0 0 0');
  });

  test('of a late batch and of an upgrade: nothing', () => {
    const day = parseDay('2026-02-05');
    expect(expectedIncidents(planOf({ what: 'late day', night: 4, until: 6, day }))).toEqual([]);
    expect(expectedIncidents(planOf({ what: 'upgrade', night: 4, until: 5, organizations: [] }))).toEqual([]);
  });
});
