import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

test('a wrong key creates no warehouse, and no file beside it', async () => {
  const rig = await createRig({ users: 4, reports: 2 });
  const folder = join(tempDir(), 'new');
  mkdirSync(folder);
  const warehouse = join(folder, 'w.db');
  const { report } = await rig.run({ settings: { warehouse, apiKey: 'wrong' } });
  expect(report.exitCode).toBe(3);
  expect(readdirSync(folder)).toEqual([]);
  expect(
    (await daywalkInProcess(['status'], { env: envOf(rig, { DAYWALK_WAREHOUSE: warehouse }) })).stderr,
  ).toContain('no warehouse');
  const again = await rig.run({ settings: { warehouse }, from: parseDay('2026-02-08') });
  expect(again.report.exitCode).toBe(0);
});

test('a wrong key does not change the content of an existing warehouse, and the run is recorded in it', async () => {
  const rig = await createRig({ users: 4, reports: 2 });
  await rig.run({ from: parseDay('2026-02-08') });
  const before = await rig.digest();
  expect((await rig.run({ settings: { apiKey: 'wrong' } })).report.exitCode).toBe(3);
  expect(await rig.digest()).toBe(before);
  expect(await rig.column('SELECT exit_code FROM export_runs ORDER BY exit_code')).toEqual([0, 3]);
  expect(readdirSync(dirname(rig.path)).length).toBeGreaterThan(0);
});

test('an empty warehouse that another run created stays', async () => {
  const rig = await createRig({ users: 4, reports: 2 });
  // The service does not answer: no organization is known, and the run is on record.
  rig.emulator.setRules([{ action: { type: 'status', status: 500 } }]);
  expect((await rig.run({ settings: { attempts: 1 } })).report.exitCode).toBe(4);
  rig.emulator.setRules([]);
  expect((await rig.run({ settings: { apiKey: 'wrong' } })).report.exitCode).toBe(3);
  expect(await rig.column('SELECT exit_code FROM export_runs ORDER BY exit_code')).toEqual([3, 4]);
});
