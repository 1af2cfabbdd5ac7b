// @module-tag campaign/faults

import { expect, test } from 'vitest';
import {
  expectRecovery,
  expectUndisturbed,
  expectWholeUnits,
  smallRig,
  UNTIL,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { needsSessions, onDatabase, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const RUN = ['run', '--until', UNTIL, '--range-days', '1'];

onDatabase(sqlite, () => {
  test('K1: a second run on one file exits with 75 at once, and a waiting one finds everything done', {
    tags: 'ci/again',
  }, async () => {
    const rig = await smallRig(sqlite, { latencyMs: 2_000 });
    const first = startDaywalk([...RUN, '--concurrency', '1'], { env: envOf(rig) });
    await expect.poll(first.stderr, { interval: 10 }).toContain('"event":"planned"');
    const waits = startDaywalk([...RUN, '--wait'], { env: envOf(rig) });
    const second = await startDaywalk(RUN, { env: envOf(rig) }).ended;
    expect(second.code).toBe(75);
    expect(first.child.exitCode).toBe(null);
    rig.emulator.setLatency(0);
    expect((await first.ended).code).toBe(0);
    expect((await waits.ended).code).toBe(0);
    expect(await rig.column('SELECT exit_code FROM export_runs ORDER BY started_at')).toEqual([0, 0]);
    await expectUndisturbed(rig);
  });

  test('K4: a run waits for a program that locks the file, then exits with 75', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await smallRig(sqlite);
    await walk(rig, { streams: ['tokens'] });
    const finish = await rig.place.keepOthersFromWriting();
    const { report, code } = await walk(rig, { force: true }).then(
      (ran) => ({ report: ran.report, code: ran.report.exitCode }),
      (error: { exitCode: number }) => ({ report: undefined, code: error.exitCode }),
    );
    expect(code).toBe(75);
    expect(report?.unitsDone ?? 0).toBe(0);
    await finish();
    await expectWholeUnits(rig);
  });
});

onEachDatabase((database) => {
  test('K2: the lock of a killed process is free at once', { tags: 'ci/rare' }, async () => {
    needsSessions(database);
    const rig = await smallRig(database, { latencyMs: 100 });
    const holder = startDaywalk([...RUN, '--concurrency', '1'], { env: envOf(rig) });
    await expect.poll(holder.stderr, { interval: 10 }).toContain('"event":"unit-done"');
    holder.child.kill('SIGKILL');
    expect((await holder.ended).signal).toBe('SIGKILL');
    rig.emulator.setLatency(0);
    await expectWholeUnits(rig);
    await expectRecovery(rig);
  });

  test('K4: a run waits for a program that writes for a moment', { tags: 'ci/rare' }, async () => {
    needsSessions(database);
    const rig = await smallRig(database);
    await walk(rig, { streams: ['tokens'] });
    const finish = await rig.place.keepOthersFromWriting();
    let isFree = false;
    const asked = rig.emulator.journal().requests;
    // A real clock: the other program is done after a quarter of a second.
    const ran = rig.run({ until: UNTIL, settings: { rangeDays: 1 } });
    setTimeout(() => {
      isFree = true;
      void finish();
    }, 250);
    const { report } = await ran;
    expect(isFree).toBe(true);
    expect(report.exitCode).toBe(0);
    expect(rig.emulator.journal().requests).toBeGreaterThan(asked);
    await expectUndisturbed(rig);
  });
});
