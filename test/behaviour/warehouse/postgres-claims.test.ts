// @module-tag database-specific

import { beforeEach, describe, expect, it } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { RunLock } from '../../../src/port/warehouse.ts';
import { dateOf, dayKey, readinessKey, type UnitKey } from '../../../src/units/unit.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };
const DAYS = Array.from({ length: 20 }, (_, n) => shiftDay(parseDay('2026-02-01'), n));
const UNITS = DAYS.map((day) => dayKey('org_1', { stream: 'tokens', day }));

const daysOf = (units: readonly UnitKey[]) => units.map(dateOf);

onDatabase(postgres, () => {
  describe('workers that share a warehouse', () => {
    beforeEach(() => needsSessions(postgres));

    /** Two workers on one warehouse. */
    async function workers() {
      const one = await open(postgres);
      const other = await open(one.place);
      return { one, other, mine: await one.lock(), theirs: await other.lock() };
    }

    it('never hold the same unit', async () => {
      const { mine, theirs } = await workers();
      expect(daysOf(await mine.claim(UNITS.slice(0, 12)))).toEqual(DAYS.slice(0, 12));
      expect(daysOf(await theirs.claim(UNITS))).toEqual(DAYS.slice(12));
      expect(await mine.claim(UNITS)).toEqual([]);
      await mine.free(UNITS.slice(0, 2));
      expect(daysOf(await theirs.claim(UNITS))).toEqual(DAYS.slice(0, 2));
      await theirs.release();
      expect(daysOf(await mine.claim(UNITS))).toEqual([...DAYS.slice(0, 2), ...DAYS.slice(12)]);
    });

    it('get each unit once, however they race', async () => {
      const { mine, theirs } = await workers();
      const claim = (lock: RunLock) => Promise.all(UNITS.map((unit) => lock.claim([unit])));
      const [ours, others] = await Promise.all([claim(mine), claim(theirs)]);
      expect([...ours, ...others].flat().map(dateOf).toSorted()).toEqual(DAYS);
    });

    it('see what the last holder of a unit committed', async () => {
      const { one, mine, theirs } = await workers();
      await mine.claim(UNITS.slice(0, 1));
      await commitDay(one, commitOf({ rows: ROWS, settled: true }));
      await mine.free(UNITS.slice(0, 1));
      expect(await theirs.claim(UNITS.slice(0, 1))).toMatchObject([
        { state: 'loaded', rows: 1, attempts: 1 },
      ]);
    });

    it('do not block units of another organization, stream, day or warehouse', async () => {
      const { mine, theirs } = await workers();
      const [unit] = await mine.claim(UNITS.slice(0, 1));
      const others: UnitKey[] = [
        dayKey('org_2', { stream: 'tokens', day: parseDay('2026-02-01') }),
        dayKey('org_1', { stream: 'tools', day: parseDay('2026-02-01') }),
        readinessKey('org_1'),
      ];
      expect(await theirs.claim(others)).toHaveLength(others.length);
      const otherWarehouse = await (await open(postgres)).lock();
      expect(await otherWarehouse.claim(unit === undefined ? [] : [unit])).toHaveLength(1);
    });

    it('get the units of a killed worker', async () => {
      const warehouse = await open(postgres);
      const script = startScript(
        `
      import { openWarehouse } from './src/warehouse/open.ts';
      import { systemClock } from './src/core/clock.ts';
      const warehouse = await openWarehouse(process.env.WAREHOUSE, { clock: systemClock(), create: false });
      const claimed = await (await warehouse.lock()).claim(JSON.parse(process.env.UNITS));
      console.log(claimed.length);
      setInterval(() => {}, 1000);`,
        { env: { WAREHOUSE: warehouse.place.location, UNITS: JSON.stringify(UNITS.slice(0, 5)) } },
      );
      expect(await firstLine(script)).toBe('5');
      const lock = await warehouse.lock();
      expect(await lock.claim(UNITS)).toHaveLength(UNITS.length - 5);
      script.child.kill('SIGKILL');
      await script.ended;
      const taken = new Set<string>();
      await expect
        .poll(async () => {
          for (const day of daysOf(await lock.claim(UNITS.slice(0, 5)))) taken.add(day);
          return [...taken].toSorted();
        })
        .toEqual(DAYS.slice(0, 5));
    });
  });
});
