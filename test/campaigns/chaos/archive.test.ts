// @module-tag campaign/chaos

import { cpSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkArchives } from '../../../jobs/archive.ts';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { killSpread } from '../../support/chaos/kill-spread.ts';
import { runKilledInLayerAt } from '../../support/chaos/run-and-kill.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-20');
onEachDatabase((database) => {
  describe('killed at any of its writes', () => {
    test('a run with an archive is completed by the next one, and the archive replays to its content', async () => {
      const rig = await archivedRig({ today, users: 6, reports: 4 }, database);
      const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T03:00:00Z` };
      const subject = { path: rig.path, env, exitCode: 0 };
      let digest: string | undefined;
      await killSpread(database, 'runs with an archive', subject, {
        reset: async () => {
          await clear(rig.place);
          for (const name of readdirSync(rig.folder)) rmSync(`${rig.folder}/${name}`, { recursive: true });
        },
        check: async () => {
          expect((await rig.run()).report.exitCode).toBe(0);
          digest ??= await rig.digest();
          expect(await rig.digest()).toBe(digest);
          expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [], undecided: 0 }]);
          expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
        },
      });
    });

    test('a replay is completed by the next one', async () => {
      const rig = await archivedRig({ today, users: 6, reports: 4 }, database);
      await rig.run();
      const digest = await rig.digest();
      const { rig: target } = await rig.replayInto();
      const { DAYWALK_API_KEY: _key, ...env } = envOf(target);
      const subject = {
        path: target.path,
        env: { ...env, DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T03:00:00Z` },
        command: ['replay', '--as-of', `${today}T03:00:00Z`, '--log', 'silent'],
        exitCode: 0,
      };
      await killSpread(database, 'replays', subject, {
        reset: () => clear(target.place),
        check: async () => {
          const ended = await runKilledInLayerAt(subject, { call: '', n: 0 });
          expect(ended.code, ended.said).toBe(0);
          expect(await target.digest()).toBe(digest);
        },
      });
    });
  });
});

test('a prune that is killed at any of its writes loses no answer that a replay needs', async () => {
  const rig = await archivedRig({ today, users: 6, reports: 4 }, sqlite);
  for (const now of ['2026-01-16', '2026-01-17', '2026-01-20'].map(parseDay)) await rig.run({ now });
  const digest = await rig.digest();
  const saved = tempDir();
  cpSync(rig.folder, saved, { recursive: true });
  const subject = {
    path: rig.path,
    env: { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T05:00:00Z` },
    command: ['archive', 'prune', '--older-than', '2d', '--log', 'silent'],
    exitCode: 0,
  };
  await killSpread(sqlite, 'prunes', subject, {
    reset: async () => {
      rmSync(rig.folder, { recursive: true });
      cpSync(saved, rig.folder, { recursive: true });
    },
    check: async () => {
      expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [] }]);
      expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
      const again = await runKilledInLayerAt(subject, { call: '', n: 0 });
      expect(again.code, again.said).toBe(0);
      expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
    },
  });
});
