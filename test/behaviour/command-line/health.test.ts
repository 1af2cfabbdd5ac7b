import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { startRun } from '../../../src/records/runs.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { insertRows } from '../../support/warehouse/insert-rows.ts';

/** Runs `status --health` at a given time, and returns its exit code and line. */
async function healthOf(rig: Rig, now: string, ...args: string[]): Promise<[code: number, line: string]> {
  const env = envOf(rig, { DAYWALK_NOW: now });
  const { code, stdout, stderr } = await daywalkInProcess(['status', '--health', ...args], { env });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).toBe('');
  return [code, stdout.trimEnd()];
}

onEachDatabase((database) => {
  describe('status --health', () => {
    const small = { users: 4, reports: 2 };

    test('is 0 for the given number of hours after a complete run, then 1', async () => {
      const rig = await exportedRig(small, { database });
      expect(await healthOf(rig, '2026-02-11T05:00:00Z')).toEqual([
        0,
        expect.stringMatching(/^healthy: the last/),
      ]);
      expect(await healthOf(rig, '2026-02-11T05:00:02Z')).toEqual([
        1,
        expect.stringMatching(/^unhealthy: the last/),
      ]);
      expect((await healthOf(rig, '2026-02-11T05:00:02Z', '--max-age', '27'))[0]).toBe(0);
      expect((await healthOf(rig, '2026-02-10T08:00:00Z', '--max-age', '4'))[0]).toBe(1);
    });

    test('does not count a run over some streams or over some days', { tags: 'ci/rare' }, async () => {
      const rig = await createRig(small, { database });
      await rig.run({ streams: ['activity'] });
      expect(await healthOf(rig, '2026-02-10T10:00:00Z')).toEqual([
        1,
        expect.stringContaining('no complete export'),
      ]);
      await rig.run({ from: parseDay('2026-02-05') });
      expect((await healthOf(rig, '2026-02-10T10:00:00Z'))[0]).toBe(1);
      await rig.run();
      expect((await healthOf(rig, '2026-02-10T04:00:00Z'))[0]).toBe(0);
      // A day later a part of the streams is no complete export, and that of the day before is too old.
      await rig.run({ now: parseDay('2026-02-11'), streams: ['activity'] });
      expect((await healthOf(rig, '2026-02-11T06:00:00Z'))[0]).toBe(1);
    });

    test('does not count a run in which a unit failed', { tags: 'ci/rare' }, async () => {
      const rules = parseRules([
        { match: { stream: 'tools', day: '2026-02-03' }, action: { type: 'status', status: 422 } },
      ]);
      const rig = await createRig({ ...small, rules }, { database });
      await rig.run({ settings: { attempts: 1 } });
      // The first export has six hours.
      expect((await healthOf(rig, '2026-02-10T04:00:00Z'))[0]).toBe(0);
      expect((await healthOf(rig, '2026-02-10T10:00:00Z'))[0]).toBe(1);
    });

    test('is 0 during a run, and 1 after the run was killed', async () => {
      const rig = await createRig(small, { database });
      await rig.run({ from: parseDay('2026-02-08') });
      const clock = systemClock(new Date('2026-02-10T03:30:00Z'));
      const warehouse = await openWarehouse(rig.path, { clock, create: false });
      const lock = await warehouse.lock();
      await startRun(warehouse, { runId: 'r', command: 'run', startedAt: clock.now(), versions: {} });
      expect(await healthOf(rig, '2026-02-10T04:00:00Z')).toEqual([0, 'healthy: a run is in progress']);
      expect((await healthOf(rig, '2026-02-11T03:31:00Z'))[0]).toBe(1);
      await lock.release();
      await warehouse.close();
      expect((await healthOf(rig, '2026-02-10T04:00:00Z'))[0]).toBe(1);
    });

    const row = (run_id: string, more: Record<string, string | number>) => ({
      ...{ run_id, org_id: 'other', command: 'run', exit_code: 0, versions: '{}' },
      ...{ started_at: '2026-02-10T03:30:00.000Z', ended_at: '2026-02-10T03:40:00.000Z' },
      ...{ units_done: 0, units_failed: 0, rows_written: 0, requests: 0, retries: 0, completed: '[]' },
      ...more,
    });

    test('is 1 after a refused key, however many organizations ran after it', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await exportedRig(small, { database });
      await rig.place.execute('UPDATE export_runs SET exit_code = 3');
      await rig.place.execute('UPDATE export_units SET org_id = ? WHERE stream = ?', 'other', 'readiness');
      const others = Array.from({ length: 100 }, (_, index) => row(`run-${index}`, {}));
      await insertRows(rig.place, 'export_runs', others);
      expect(await healthOf(rig, '2026-02-10T04:00:00Z')).toEqual([
        1,
        expect.stringMatching(/: the last run ended with exit code 3$/),
      ]);
    });

    test.each([
      ['a replay has succeeded since: it sends no request', { command: 'replay' }],
      ['a run was interrupted since: it proves nothing', { exit_code: 130 }],
    ])('is 1 after a refused key, although %s', async (_, later) => {
      const rig = await exportedRig(small, { database });
      const { orgId: org_id } = rig.emulator;
      await rig.place.execute('UPDATE export_runs SET exit_code = 3');
      await insertRows(rig.place, 'export_runs', [row('later', { org_id, ...later })]);
      expect(await healthOf(rig, '2026-02-10T04:00:00Z')).toEqual([
        1,
        'unhealthy: the last run ended with exit code 3',
      ]);
    });

    test('is 1 when a stream has had no data for four days, even if the export is recent', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(small, { database });
      const silent = daysFrom(parseDay('2026-02-06'), parseDay('2026-02-09'));
      rig.emulator.setQuirks({ lies: { lateDays: { tools: silent.slice(1) } } });
      await rig.run();
      expect((await healthOf(rig, '2026-02-10T04:00:00Z'))[0]).toBe(0);
      const other = await createRig(
        { ...small, quirks: { lies: { lateDays: { tools: silent } } } },
        { database },
      );
      await other.run();
      expect(await healthOf(other, '2026-02-10T04:00:00Z')).toEqual([
        1,
        'unhealthy: tools has no data from 2026-02-06 to 2026-02-09, and had some in the week before',
      ]);
    });
  });
});

test('status --health of a missing warehouse prints one line and exits with 1; --json prints one document', async () => {
  const env = { DAYWALK_WAREHOUSE: `${tempDir()}/none.db` };
  const { code, stdout } = await daywalkInProcess(['status', '--health'], { env });
  expect([code, stdout]).toEqual([1, `unhealthy: there is no warehouse at ${env.DAYWALK_WAREHOUSE}\n`]);
  const json = await daywalkInProcess(['status', '--health', '--json'], { env });
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    1,
    { healthy: false, lastCompleteExportAt: null },
  ]);
});
