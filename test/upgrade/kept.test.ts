import { expect, onTestFinished, test } from 'vitest';
import { digestOf } from '../../jobs/digest.ts';
import { parseDay, shiftDay } from '../../src/core/day.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { CANARY_KEY } from '../support/canary.ts';
import { onEachDatabase, open } from '../support/database.ts';
import { rigOver } from '../support/rig.ts';
import { sqlite } from '../support/sqlite.ts';
import { told, verify } from '../verify/verifying.ts';
import { keptFacts, keptVersions, restored } from './kept-warehouses.ts';

test('S7: a warehouse of every released version is kept', () => {
  expect(keptVersions()).toContain('0.1.0');
});

onEachDatabase((database) => {
  test.each(keptVersions())('S7: a warehouse of version %s opens with all that it held', async (version) => {
    const facts = keptFacts(version);
    const warehouse = await open(await restored(version, database), { create: false });
    expect(await digestOf(warehouse)).toMatchObject({ tables: facts.digest.tables });
    const { place } = warehouse;
    const count = async (sql: string) =>
      Number((await place.query<{ n: number }>(`SELECT COUNT(*) AS n FROM ${sql}`))[0]?.n);
    expect({
      units: await count('export_units'),
      failed: await count("export_units WHERE state = 'failed'"),
      quarantine: await count('quarantine'),
      restatements: await count('restatements'),
      hookEvents: await count('hook_events'),
    }).toEqual({
      units: facts.units,
      failed: facts.failed,
      quarantine: facts.quarantine,
      restatements: facts.restatements,
      hookEvents: facts.hookEvents,
    });
  });

  test.each(keptVersions())(
    'S7: a warehouse of version %s is verified, and continued by a run',
    async (version) => {
      const { service } = keptFacts(version);
      const today = shiftDay(parseDay(service.today), 3);
      const emulator = await startEmulator({ ...service, today, apiKey: CANARY_KEY });
      onTestFinished(() => emulator.close());
      const rig = rigOver(emulator, await restored(version, database));
      expect(await verify(rig, { now: today })).toMatchObject({
        counts: { broken: 0, hole: 0, oddity: 0 },
        damages: [],
      });
      const { report } = await rig.run({ now: today });
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0 });
      // The days that were not settled, what had failed or was in quarantine, and the new days: not the whole history.
      expect(report.unitsDone).toBeLessThan(50);
      expect(await rig.value<number>('SELECT COUNT(*) FROM quarantine')).toBe(0);
      expect(told((await verify(rig, { now: today })).findings)).toEqual([]);
      // What a service of today says of those days is what a new warehouse would hold.
      await rig.run({ now: today, force: true });
      const anew = rigOver(emulator, sqlite.place());
      await anew.run({ now: today });
      const facts = (rows: readonly object[]) => JSON.stringify(rows);
      for (const table of ['tokens_daily', 'user_daily', 'tools_daily_by_tool', 'readiness_reports']) {
        const sql = `SELECT COUNT(*) AS n FROM ${table}`;
        expect(facts(await rig.sql(sql)), table).toBe(facts(await anew.sql(sql)));
      }
      await rig.place.execute('DELETE FROM hook_events');
      expect(await rig.digest()).toBe(await anew.digest());
    },
  );
});
