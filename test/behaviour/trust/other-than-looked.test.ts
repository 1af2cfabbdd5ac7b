import { expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { Lie } from '../../support/trust/adversary.ts';
import { FRUGAL, settledWorld } from '../../support/trust/settled-world.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const FIRST = parseDay('2026-03-20');
const DAY = parseDay('2026-03-05');
/** Two days that one range could cover. */
const DAYS = [DAY, '2026-03-06'];

/** A service whose ranges say one value for a day, and whose answers for the day alone say another one. */
function twoAnswers(inRanges: number, alone: number): Lie {
  return {
    rows: (stream, rows) => {
      const isAlone = new Set(rows.map((row) => row['date'])).size === 1;
      if (stream !== 'tools') return rows;
      return rows.map((row) =>
        DAYS.includes(String(row['date'])) ? { ...row, autonomy_ratio_p50: isAlone ? alone : inRanges } : row,
      );
    },
  };
}

onDatabase(sqlite, () => {
  it('a settled day is not replaced by one answer that no look has found', { tags: 'ci/rare' }, async () => {
    const world = await settledWorld(sqlite, { first: FIRST });
    const stored = () =>
      world.rig.column<number>(
        "SELECT autonomy_ratio_p50 FROM tools_daily WHERE date IN ('2026-03-05', '2026-03-06')",
      );
    world.service.lie = twoAnswers(0.5, 0.25);
    const named: string[] = [];
    for (let number = 3; number <= 9; number += 1) {
      await world.night(number, FRUGAL);
      named.push(...(await world.status(number)).open.slice(0, 1).map(({ state }) => state));
      expect(await stored()).toEqual([1, 1]);
    }
    // It is named each night, and settled as before.
    expect(named).toHaveLength(7);
    const open = 'SELECT COUNT(*) FROM export_units WHERE date = ? AND settled_at IS NULL';
    expect(Number(await world.rig.value(open, DAY))).toBe(0);
    // Once both answers are the same, it is stored after as many looks as an unstable day needs.
    world.service.lie = twoAnswers(0.5, 0.5);
    for (let number = 10; number <= 16; number += 1) await world.night(number, FRUGAL);
    expect(await stored()).toEqual([0.5, 0.5]);
  });
});
