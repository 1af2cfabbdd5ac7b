// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onEachDatabase, open, type Place } from '../../support/warehouse/each-database.ts';

const ALONE = { exclusive: true };

/** A process that takes the exclusive lock, reports it, and never releases it. */
function holder({ location }: Place) {
  return startScript(
    `
    import { openWarehouse } from './src/warehouse/open.ts';
    import { systemClock } from './src/core/clock.ts';
    const warehouse = await openWarehouse(process.env.WAREHOUSE, { clock: systemClock(), create: true });
    try {
      await warehouse.lock({ exclusive: true });
      console.log('locked');
    } catch (error) {
      console.log(error.name + ' ' + error.exitCode);
      process.exit();
    }
    setInterval(() => {}, 1000);`,
    { env: { WAREHOUSE: location } },
  );
}

onEachDatabase((database) => {
  describe('the exclusive run lock', () => {
    it('has one holder at a time, in this process and in others', { tags: 'ci/variant' }, async () => {
      needsSessions(database);
      const warehouse = await open(database);
      const lock = await warehouse.lock(ALONE);
      const other = await open(warehouse.place);
      expect(await thrownBy(other.lock(ALONE))).toMatchObject({
        name: 'BusyError',
        exitCode: 75,
        message: expect.stringContaining(warehouse.location),
        hint: expect.stringMatching(/wait/),
      });
      expect(await firstLine(holder(warehouse.place))).toBe('BusyError 75');
      await lock.release();
      await (await other.lock(ALONE)).release();
    });

    it('excludes shared holders, and is excluded by them', async () => {
      needsSessions(database);
      const warehouse = await open(database);
      const other = await open(warehouse.place);
      for (const [first, second] of [
        [ALONE, {}],
        [{}, ALONE],
      ] as const) {
        const lock = await warehouse.lock(first);
        expect(await thrownBy(other.lock(second))).toMatchObject({
          name: 'BusyError',
          exitCode: 75,
          hint: expect.stringMatching(/wait/),
        });
        await lock.release();
        await (await other.lock(second)).release();
      }
    });

    it('is refused to its own holder as well, and not lost by the attempt', { tags: 'ci/rare' }, async () => {
      needsSessions(database);
      const warehouse = await open(database);
      const lock = await warehouse.lock(ALONE);
      expect(await thrownBy(warehouse.lock(ALONE))).toMatchObject({ name: 'BusyError', exitCode: 75 });
      await (await open(warehouse.place)).close();
      expect(await firstLine(holder(warehouse.place))).toBe('BusyError 75');
      await lock.release();
    });

    it('does not prevent reading and writing', async () => {
      const warehouse = await open(database);
      const lock = await warehouse.lock(ALONE);
      const other = await open(warehouse.place);
      await commitDay(other, commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }));
      expect(await readUnits(warehouse, 'org_1')).toHaveLength(1);
      await lock.release();
    });

    it('is free as soon as its holder is killed', { tags: 'ci/again' }, async () => {
      needsSessions(database);
      const place = database.place();
      const script = holder(place);
      expect(await firstLine(script)).toBe('locked');
      const warehouse = await open(place);
      expect(await thrownBy(warehouse.lock(ALONE))).toMatchObject({ name: 'BusyError', exitCode: 75 });
      script.child.kill('SIGKILL');
      expect((await script.ended).signal).toBe('SIGKILL');
      // A server notices that a client is gone when it looks at its connection.
      const lock = await expect.poll(() => warehouse.lock(ALONE).catch(() => null)).not.toBeNull();
      void lock;
    });

    it('of one warehouse is not that of another', async () => {
      const [a, b] = [await open(database), await open(database)];
      const locks = [await a.lock(ALONE), await b.lock(ALONE)];
      for (const lock of locks) await lock.release();
    });
  });
});
