// @module-tag campaign/chaos

import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkArchives } from '../../../jobs/archive.ts';
import { parseDay } from '../../../src/core/day.ts';
import { type EmailPolicy, usersOf } from '../../../src/privacy/gate.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { killSpread } from '../../support/chaos/kill-spread.ts';
import { runKilledInLayerAt } from '../../support/chaos/run-and-kill.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-20');
const KEEP: EmailPolicy = { mode: 'keep' };
const HASH = { mode: 'hash', salt: 'a long enough salt for the tests' } as const;
/** A stricter policy, the one before, what only the one before stores, and what is noted of the stricter one. */
const STRICTER = [
  { name: 'hash', before: KEEP, after: HASH, gone: ['ada@example', '@example.com'], noted: 'hash' },
  ...(['pseudonym', 'none'] as const).map((users) => ({
    ...{ name: users, before: HASH, after: { ...HASH, users }, gone: ['user_0'], noted: users },
  })),
] as const;

onEachDatabase((database) => {
  describe('killed at any of its writes', () => {
    test.each(STRICTER)(
      'privacy apply is completed by a repetition, and no run stores anything before: $name',
      async ({ name, before, after, gone, noted }) => {
        const rig = await archivedRig({ today, users: 6, reports: 4 }, database);
        const service = await rewritingService(rig.emulator.url);
        service.rewrite((text) =>
          text
            .replaceAll('"rationale":"', '"rationale":"ask ada@example.com: ')
            .replaceAll('"tool":"', '"tool":"ada@example.com '),
        );
        const settings = { baseUrl: service.url, appUrl: service.url };
        const run = (emails: EmailPolicy) => rig.run({ settings: { ...settings, emails } });
        const env = {
          ...envOf(rig, {
            DAYWALK_EMAILS: 'hash',
            DAYWALK_EMAIL_SALT: HASH.salt,
            DAYWALK_USERS: usersOf(after),
          }),
          ...{ DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T04:00:00Z` },
        };
        const command = ['privacy', 'apply', '--yes', '--log', 'silent'];
        const subject = { path: rig.path, env, command, exitCode: 0 };
        const searched = { place: rig.place, archive: rig.folder, spool: '' };
        const digests = new Set<string>();
        await killSpread(database, `applied policies, ${name}`, subject, {
          reset: async () => {
            await clear(rig.place);
            for (const name of readdirSync(rig.folder)) rmSync(`${rig.folder}/${name}`, { recursive: true });
            expect((await run(before)).report.exitCode).toBe(0);
          },
          check: async () => {
            const isApplied = (
              await rig.column<string>("SELECT value FROM export_state WHERE name = 'policy'")
            )
              .join()
              .includes(`"${noted}"`);
            const between = await run(after).then(
              ({ report }) => report.exitCode,
              ({ exitCode }) => exitCode,
            );
            expect(between).toBe(isApplied ? 0 : 2);
            const ended = await runKilledInLayerAt(subject, { call: '', n: 0 });
            expect(ended.code, ended.said).toBe(0);
            expect(await placesOf(gone, searched)).toEqual([]);
            expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [], undecided: 0 }]);
            const digest = await rig.digest();
            digests.add(digest);
            expect((await run(after)).report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
            expect(await (await rig.replayInto({}, { emails: after })).rig.digest()).toBe(digest);
          },
        });
        // Each reset makes a new key of pseudonyms.
        if (noted !== 'pseudonym') expect(digests.size).toBe(1);
      },
    );
  });
});
