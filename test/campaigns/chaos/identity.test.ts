// @module-tag campaign/chaos

import { cpSync, readdirSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { killSpread } from '../../support/chaos/kill-spread.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const [yesterday, today] = [parseDay('2026-01-19'), parseDay('2026-01-20')];

onEachDatabase((database) => {
  test('a night that is killed at any of its writes is never taken for another one, and an old archive is noticed', async () => {
    const rig = await archivedRig({ today, users: 6, reports: 2 }, database);
    const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T03:00:00Z` };
    const subject = { path: rig.path, env, exitCode: 0 };
    const saved = tempDir();
    const empty = () => {
      for (const name of readdirSync(rig.folder)) rmSync(`${rig.folder}/${name}`, { recursive: true });
    };
    await killSpread(database, 'nights that are compared', subject, {
      reset: async () => {
        await clear(rig.place);
        empty();
        await rig.run({ now: yesterday });
        rmSync(saved, { recursive: true });
        cpSync(rig.folder, saved, { recursive: true });
      },
      check: async () => {
        for (const night of [await rig.run(), await rig.run()]) {
          expect(night.report.exitCode).toBe(0);
          expect(night.events.filter(({ type }) => type === 'warning')).toEqual([]);
        }
        empty();
        cpSync(saved, rig.folder, { recursive: true });
        const { report, events } = await rig.run();
        expect(report.exitCode).toBe(0);
        expect(events).toContainEqual(expect.objectContaining({ type: 'warning', reason: 'runs-lost' }));
      },
    });
  });
});
