import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { failUnit, readUnits } from '../../../src/ledger/ledger.ts';
import { dayKey, readinessKey, type UnitKey } from '../../../src/units/unit.ts';
import { commitDay, commitOf, ruleOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };

function unit(day: string, stream: DailyStream = 'tokens'): UnitKey {
  return dayKey('org_1', { stream, day: parseDay(day) });
}

onEachDatabase((database) => {
  describe('a claim of units', () => {
    it('returns the current ledger rows, pending ones for units that were never pulled', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS, settled: true }));
      await commitDay(warehouse, commitOf({ orgId: 'org_2', day: '2026-02-02', rows: ROWS }));
      const lock = await warehouse.lock();
      const wanted = [
        unit('2026-02-02'),
        unit('2026-02-01'),
        unit('2026-02-01', 'users'),
        readinessKey('org_1'),
      ];
      const claimed = await lock.claim(wanted);
      expect(claimed).toMatchObject(wanted);
      expect(claimed.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual([
        'pending 0',
        'loaded 1',
        'pending 0',
        'pending 0',
      ]);
      expect(claimed[1]).toEqual((await readUnits(warehouse, 'org_1'))[0]);
      await lock.release();
    });

    it('of no units returns nothing', async () => {
      const warehouse = await open(database);
      const lock = await warehouse.lock();
      expect(await lock.claim([])).toEqual([]);
      await lock.free([]);
      await lock.release();
    });

    it('blocks no other claim once it is released, whether the units were committed or not', async () => {
      const warehouse = await open(database);
      const lock = await warehouse.lock();
      const wanted = [unit('2026-02-01'), unit('2026-02-02')];
      await lock.claim(wanted);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      await lock.free(wanted);
      const again = await lock.claim(wanted);
      expect(again.map(({ state }) => state)).toEqual(['loaded', 'pending']);
      await lock.free(wanted);
      // What is free already may be freed again.
      await lock.free(wanted);
      await lock.release();
    });

    it('is released with the lock', async () => {
      const warehouse = await open(database);
      const first = await warehouse.lock();
      await first.claim([unit('2026-02-01')]);
      await first.release();
      const second = await warehouse.lock();
      expect(await second.claim([unit('2026-02-01')])).toHaveLength(1);
      await second.release();
    });

    it('does not prevent its units from being read, committed or failed', async () => {
      const warehouse = await open(database);
      const lock = await warehouse.lock();
      const claimed = unit('2026-02-01');
      await lock.claim([claimed]);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      const pulledAt = new Date('2026-02-03T00:00:00Z');
      const rule = ruleOf(false, pulledAt);
      await failUnit(warehouse, { unit: claimed, state: 'failed', error: 'x', requests: 1, pulledAt, rule });
      expect(await readUnits(warehouse, 'org_1')).toMatchObject([{ state: 'failed', attempts: 2 }]);
      await lock.release();
    });
  });
});
