// @module-tag campaign/chaos

import { cpSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkArchives } from '../../../jobs/archive.ts';
import { parseDay } from '../../../src/core/day.ts';
import { type ArchivedRig, archivedRig } from '../../support/archive/archived-rig.ts';
import { killSpread } from '../../support/chaos/kill-spread.ts';
import { runKilledInLayerAt } from '../../support/chaos/run-and-kill.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-20');
const SMALL = { today, users: 6, reports: 4 };
const FRESH = 'somebody.new@example.org';

/** Empties a warehouse and its archive, exports both again, and erases the person. */
async function exportAndErase(rig: ArchivedRig, user: string): Promise<void> {
  await clear(rig.place);
  for (const name of readdirSync(rig.folder)) rmSync(`${rig.folder}/${name}`, { recursive: true });
  expect((await rig.run()).report.exitCode).toBe(0);
  await eraseFrom(rig, { user });
}

/** Answers in which the person has another address: beside the ID, and alone in rows of tools and in reports. */
function withNewAddress(user: string, email: string): (text: string) => string {
  return (text) =>
    text
      .replaceAll(email, FRESH)
      .replaceAll('"tool":"', `"note":"ask ${FRESH}","tool":"`)
      .replaceAll('"rationale":"', `"rationale":"ask ${FRESH}: `)
      .replace('"reportId":', `"author":{"user_id":"${user}","email":"${FRESH}"},"reportId":`);
}

const totalsOf = (rig: ArchivedRig) =>
  rig.sql(
    'SELECT date, count(*) AS users, sum(sessions) AS sessions FROM user_daily GROUP BY date ORDER BY date',
  );

onEachDatabase((database) => {
  describe('killed at any of its writes', () => {
    test('a run that finds a new address of an erased person keeps it out together with the next run', async () => {
      const rig = await archivedRig(SMALL, database);
      await rig.run();
      const before = await totalsOf(rig);
      const { user, email } = await somebody(rig);
      const service = await rewritingService(rig.emulator.url);
      const settings = { baseUrl: service.url, appUrl: service.url };
      const subject = {
        path: rig.path,
        env: {
          ...envOf({ ...rig, settings: { ...rig.settings, ...settings } }),
          ...{ DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T05:00:00Z` },
        },
        command: ['backfill', '--from', '2026-01-14', '--until', '2026-01-19', '--force', '--log', 'silent'],
        exitCode: 0,
      };
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      await killSpread(database, 'runs that find a new address', subject, {
        reset: async () => {
          await exportAndErase(rig, user);
          service.rewrite(withNewAddress(user, email));
        },
        check: async () => {
          // The service does not send the address again.
          service.rewrite((text) => text);
          expect((await rig.run({ settings })).report.exitCode).toBe(0);
          expect(await placesOf([user, email, FRESH], searched)).toEqual([]);
          expect(await totalsOf(rig)).toEqual(before);
          expect(
            await rig.value(
              "SELECT count(*) FROM export_state WHERE name LIKE 'eras%' AND name <> 'erased-keys'",
            ),
          ).toBe(0);
          expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [], undecided: 0 }]);
          expect(await (await rig.replayInto()).rig.digest()).toBe(await rig.digest());
        },
      });
    });

    test('a replay that finds a new address of an erased person keeps it out together with the next replay', async () => {
      const rig = await archivedRig(SMALL, database);
      await rig.run();
      const before = await totalsOf(rig);
      const { user, email } = await somebody(rig);
      const other = await archivedRig(SMALL, database);
      const service = await rewritingService(other.emulator.url);
      service.rewrite(withNewAddress(user, email));
      await other.run({ settings: { baseUrl: service.url, appUrl: service.url } });
      const saved = tempDir();
      cpSync(other.folder, saved, { recursive: true });
      const { DAYWALK_API_KEY: _key, ...env } = envOf(rig);
      const subject = {
        path: rig.path,
        env: { ...env, DAYWALK_ARCHIVE: other.folder, DAYWALK_NOW: `${today}T05:00:00Z` },
        command: ['replay', '--log', 'silent'],
        exitCode: 0,
      };
      const searched = { place: rig.place, archive: other.folder, spool: '' };
      await killSpread(database, 'replays that find a new address', subject, {
        reset: async () => {
          await exportAndErase(rig, user);
          rmSync(other.folder, { recursive: true });
          cpSync(saved, other.folder, { recursive: true });
        },
        check: async () => {
          const ended = await runKilledInLayerAt(subject, { call: '', n: 0 });
          expect(ended.code, ended.said).toBe(0);
          expect(await placesOf([user, email, FRESH], searched)).toEqual([]);
          expect(await totalsOf(rig)).toEqual(before);
          expect(
            await rig.value(
              "SELECT count(*) FROM export_state WHERE name LIKE 'eras%' AND name <> 'erased-keys'",
            ),
          ).toBe(0);
          expect(await (await rig.replayInto({}, { archives: [other.folder] })).rig.digest()).toBe(
            await rig.digest(),
          );
        },
      });
    });
  });
});
