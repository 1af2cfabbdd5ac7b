// @module-tag campaign/chaos

import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkArchives } from '../../../jobs/archive.ts';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { killSpread } from '../../support/chaos/kill-spread.ts';
import { runKilledInLayerAt } from '../../support/chaos/run-and-kill.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-20');

onEachDatabase((database) => {
  describe('killed at any of its writes', () => {
    test('an erasure is completed by the next one: nobody is left, and every total stays', async () => {
      const rig = await archivedRig({ today, users: 6, reports: 4 }, database);
      await rig.run();
      const { user, email } = await somebody(rig);
      const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T04:00:00Z` };
      const command = ['erase', '--user', user, '--log', 'silent'];
      const subject = { path: rig.path, env, command, exitCode: 0 };
      const totals = () =>
        rig.sql(
          'SELECT date, count(*) AS users, sum(sessions) AS sessions FROM user_daily GROUP BY date ORDER BY date',
        );
      const before = await totals();
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      await killSpread(database, 'erasures', subject, {
        reset: async () => {
          await clear(rig.place);
          for (const name of readdirSync(rig.folder)) rmSync(`${rig.folder}/${name}`, { recursive: true });
          expect((await rig.run()).report.exitCode).toBe(0);
        },
        check: async () => {
          const ended = await runKilledInLayerAt(subject, { call: '', n: 0 });
          // An erasure that was complete when it was killed finds nobody.
          expect([0, 2], ended.said).toContain(ended.code);
          expect(await placesOf([user, email], searched)).toEqual([]);
          expect(await totals()).toEqual(before);
          expect(await rig.value("SELECT count(*) FROM export_state WHERE name = 'erasure'")).toBe(0);
          expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [], undecided: 0 }]);
          const digest = await rig.digest();
          expect((await rig.run()).report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
          expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
        },
      });
    });
  });
});
