// @module-tag campaign/faults

import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { DAY, smallRig, walk } from '../../support/faults/three-day-walk.ts';
import { rigOver, TODAY } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  test('O4: two organizations share one warehouse, and neither changes the other', {
    tags: 'ci/again',
  }, async () => {
    const first = await smallRig(database);
    const emulator = await startEmulator({ realistic: true, today: TODAY, users: 30, reports: 6, seed: 2 });
    try {
      const second = rigOver(emulator, first.place);
      expect(emulator.orgId).not.toBe(first.emulator.orgId);
      await walk(first);
      const rowsOf = (orgId: string) =>
        first.sql('SELECT * FROM user_daily WHERE org_id = ? ORDER BY date, user_id', orgId);
      const own = await rowsOf(first.emulator.orgId);
      expect(own.length).toBeGreaterThan(0);
      expect((await walk(second, { newOrganization: emulator.orgId })).report.exitCode).toBe(0);
      expect(await rowsOf(first.emulator.orgId)).toEqual(own);
      const others = await rowsOf(emulator.orgId);
      expect(others.length).toBeGreaterThan(0);
      // Pulled again with fewer people: only the rows of the one that was asked are deleted.
      first.emulator.revise({ kind: 'empty', day: DAY });
      expect((await walk(first, { force: true })).report.exitCode).toBe(5);
      expect((await walk(first, { force: true, acceptLoss: true })).report.exitCode).toBe(0);
      expect((await rowsOf(first.emulator.orgId)).length).toBeLessThan(own.length);
      expect(await rowsOf(emulator.orgId)).toEqual(others);
    } finally {
      await emulator.close();
    }
  });
});
