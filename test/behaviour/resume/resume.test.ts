// @module-tag campaign/chaos

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { contentSha256 } from '../../../schema/digest.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { StoppedError } from '../../../src/core/errors.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Early in the history: few days are enough. */
const today = parseDay('2026-01-27');
const DAYS = 13;
/** Kills of one campaign in the suite, and of the longer one. */
const KILLS = process.env['DAYWALK_CHAOS'] === '1' ? 20 : 3;

/** The digest that a warehouse has when nothing disturbs its run. */
async function undisturbed(rig: Rig): Promise<string> {
  const calm = rigOver(rig.emulator, sqlite.place(), rig.today);
  await calm.run();
  return calm.digest();
}

/** Asserts that every loaded unit is complete, and that no row is outside of such a unit. */
async function expectWholeUnits(rig: Rig): Promise<void> {
  const units = await rig.sql<{ stream: string; date: string; content_sha256: string | null }>(
    "SELECT stream, date, content_sha256 FROM export_units WHERE date <> ''",
  );
  for (const { stream, date, content_sha256 } of units) {
    const tables = await Promise.all(
      tablesOf(stream).map(async (table) => ({
        table,
        rows: (
          await rig.sql(`SELECT * FROM ${table.name} WHERE date = ? ORDER BY ${table.key.join(', ')}`, date)
        ).map((row) => Object.values(row)),
      })),
    );
    expect(contentSha256(tables), `${stream} ${date}`).toBe(content_sha256);
  }
  for (const stream of ['tokens', 'tools', 'activity', 'productivity', 'users']) {
    for (const { name } of tablesOf(stream)) {
      const strays = `SELECT DISTINCT date FROM ${name} WHERE CAST(date AS text) NOT IN (SELECT date FROM export_units WHERE stream = ?)`;
      expect(await rig.column(strays, stream), name).toEqual([]);
    }
  }
}

onEachDatabase((database) => {
  describe('an interrupted run', () => {
    test('that is killed repeatedly ends with the content of an undisturbed run', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ users: 60, latencyMs: 3 }, { database });
      let killed = 0;
      for (let round = 0; round < KILLS; round += 1) {
        const { child, ended, stderr } = startDaywalk(['run'], { env: envOf(rig) });
        while (!stderr().includes('"planned"')) await delay(5);
        await delay(35 * round);
        child.kill('SIGKILL');
        if ((await ended).signal === 'SIGKILL') killed += 1;
        await expectWholeUnits(rig);
      }
      expect(killed).toBeGreaterThan(1);
      expect((await rig.run()).report.exitCode).toBe(0);
      await expectWholeUnits(rig);
      expect(await rig.digest()).toBe(await undisturbed(rig));
      expect(await rig.column('SELECT COUNT(*) FROM restatements')).toEqual([0]);
    });

    test('does not request again what was committed and old enough', async () => {
      const rig = await createRig({ today, latencyMs: 5 }, { database });
      const controller = new AbortController();
      const onEvent = ({ type, day }: { type: string; day?: string }) => {
        if (type === 'unit-done' && day === '2026-01-20') controller.abort(new StoppedError('SIGTERM'));
      };
      // Day by day: a range could bring all that is left at once.
      const first = await rig.run({ signal: controller.signal, onEvent, settings: { rangeDays: 1 } });
      expect(first.report.exitCode).toBe(143);
      expect(first.report.unitsLeftOut).toBeGreaterThan(0);
      const old = "SELECT COUNT(*) FROM export_units WHERE date <> '' AND date < '2026-01-25'";
      const committed = (await rig.value<number>(old)) ?? 0;
      expect(committed).toBeGreaterThan(0);
      const second = await rig.run();
      expect(second.report.unitsPlanned).toBe(DAYS * 5 + 1 - committed);
      expect(second.report.exitCode).toBe(0);
    });

    // What differs between signals does not depend on the database.
    const signals = [['SIGTERM', 143] as const, ['SIGINT', 130] as const];
    for (const [name, code] of database === sqlite ? signals : signals.slice(0, 1)) {
      test(`ends within 5 seconds of a ${name} at a unit boundary, with exit code ${code}`, {
        tags: 'ci/again',
      }, async () => {
        const rig = await createRig({ today, latencyMs: 40 }, { database });
        const { child, ended, stderr } = startDaywalk(['run'], { env: envOf(rig) });
        while (!stderr().includes('unit-done')) await delay(20);
        const asked = performance.now();
        child.kill(name);
        const end = await ended;
        expect(performance.now() - asked).toBeLessThan(5_000 + BUSY_MACHINE_MS);
        expect(end.code).toBe(code);
        await expectWholeUnits(rig);
        expect(await rig.sql('SELECT exit_code, ended_at IS NOT NULL AS ended FROM export_runs')).toEqual([
          { exit_code: code, ended: 1 },
        ]);
        rig.emulator.setLatency(0);
        expect((await rig.run()).report.exitCode).toBe(0);
        expect(await rig.digest()).toBe(await undisturbed(rig));
      });
    }
  });

  describe('a run that waits for another program that writes to the warehouse', () => {
    test('continues when that program has finished', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig({ today }, { database }, { until: parseDay('2026-01-15') });
      const finish = await rig.place.keepOthersFromWriting();
      const ran = rig.run();
      await delay(700);
      await finish();
      expect((await ran).report.exitCode).toBe(0);
    });

    test('still ends within 5 seconds of a SIGTERM', { tags: 'ci/variant' }, async () => {
      const rig = await exportedRig({ today }, { database }, { until: parseDay('2026-01-15') });
      const { child, ended, stderr } = startDaywalk(['run', '--concurrency', '64'], { env: envOf(rig) });
      while (!stderr().includes('"planned"')) await delay(5);
      const finish = await rig.place.keepOthersFromWriting();
      await delay(500);
      const asked = performance.now();
      child.kill('SIGTERM');
      const { code } = await ended;
      expect(performance.now() - asked).toBeLessThan(5_000 + BUSY_MACHINE_MS);
      expect(code).toBe(143);
      await finish();
      await expectWholeUnits(rig);
    });
  });
});
