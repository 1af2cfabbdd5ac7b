// @module-tag database-specific

import { describe, expect, it, type TestContext } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { executeAlone } from '../../support/postgres/execute-alone.ts';
import { startPair } from '../../support/postgres/standby.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres, postgresPlace } from '../../support/warehouse/postgres-place.ts';

onDatabase(postgres, () => {
  describe('a run during which a standby takes over that lacks the last commits', {
    tags: 'ci/variant',
  }, () => {
    it('ends with exit code 6, and the next run restores what was lost', async (context) => {
      const failed = await failOverDuringRun(context, 'postgres');
      const { report } = await failed.ended;
      expect(report).toMatchObject({
        exitCode: 6,
        problems: [
          {
            message: expect.stringContaining('another server has taken over'),
            hint: expect.stringContaining('resumes'),
          },
        ],
      });
      await failed.expectRestored();
    });

    it('ends with exit code 6 also if its role may not see that it is another server', async (context) => {
      const failed = await failOverDuringRun(context, 'stranger');
      const { report } = await failed.ended;
      expect(report).toMatchObject({
        exitCode: 6,
        problems: [
          {
            message: expect.stringMatching(/has lost .* and \d+ more units since they were stored/),
            hint: expect.stringContaining('resumes'),
          },
        ],
      });
      await failed.expectRestored();
    });
  });
});

/** Starts a run of a role, cuts the standby off, and lets it take over once more units are stored. */
async function failOverDuringRun(context: TestContext, role: string) {
  const pair = await startPair();
  if (pair === undefined) return context.skip('no PostgreSQL is installed that could be a standby');
  if (role !== 'postgres') {
    await executeAlone(
      pair.url,
      `CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE postgres TO ${role};
       REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`,
    );
  }
  const url = new URL(pair.url);
  url.username = role;
  const single = await createRig({}, {});
  const rig = rigOver(single.emulator, postgresPlace(url.href, 'daywalk'));
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
  return {
    ended: rig.run({ onEvent, settings: { rangeDays: 1 } }),
    expectRestored: async () => {
      await over;
      rig.emulator.setLatency(0);
      expect((await rig.run()).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect((await single.run()).report.exitCode).toBe(0);
      expect(await rig.digest()).toBe(await single.digest());
      expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(0);
    },
  };
}
