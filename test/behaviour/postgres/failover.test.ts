// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { startPair } from '../../support/postgres/standby.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres, postgresPlace } from '../../support/warehouse/postgres-place.ts';

onDatabase(postgres, () => {
  describe('a run during which a standby takes over that lacks the last commits', {
    tags: 'ci/variant',
  }, () => {
    it('ends with exit code 6, and the next run restores what was lost', async (context) => {
      const pair = await startPair();
      if (pair === undefined) return context.skip('no PostgreSQL is installed that could be a standby');
      const single = await createRig({}, {});
      const rig = rigOver(single.emulator, postgresPlace(pair.url, 'daywalk'));
      const until = parseDay('2026-01-20');
      expect((await rig.run({ until })).report.exitCode).toBe(0);
      await pair.stopReplication();
      rig.emulator.setLatency(50);
      let done = 0;
      let over: Promise<void> | undefined;
      const onEvent = ({ type }: { readonly type: string }) => {
        if (type === 'unit-done') done += 1;
        if (done === 30) over ??= pair.failOver();
      };
      expect(await thrownBy(rig.run({ onEvent, settings: { rangeDays: 1 } }))).toMatchObject({
        name: 'StorageError',
        exitCode: 6,
        message: expect.stringContaining('another server has taken over'),
        hint: expect.stringContaining('resumes'),
      });
      await over;
      rig.emulator.setLatency(0);
      expect((await rig.run()).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect((await single.run()).report.exitCode).toBe(0);
      expect(await rig.digest()).toBe(await single.digest());
      expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(0);
    });
  });
});
