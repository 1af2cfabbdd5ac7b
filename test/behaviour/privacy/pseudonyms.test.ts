import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { parseDay } from '../../../src/core/day.ts';
import { adviceOf } from '../../../src/core/errors.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-24');
const SALT = 'a long enough salt for the tests';
const HASH: EmailPolicy = { mode: 'hash', salt: SALT };
const PSEUDONYM: EmailPolicy = { ...HASH, users: 'pseudonym' };
const NONE: EmailPolicy = { ...HASH, users: 'none' };

/** Removes what earlier builds did not note. */
function forgetPolicy(archive: string): Promise<unknown> {
  return withArchive(ArchiveFile.write(archive), async (file) =>
    file.prepare("DELETE FROM meta WHERE name = 'policy'").run(),
  );
}

onEachDatabase((database) => {
  const exported = async (policy: EmailPolicy) => {
    const rig = await archivedRig({ today, users: 10, reports: 4 }, database);
    expect((await rig.run({ settings: { emails: policy } })).report).toMatchObject({ exitCode: 0 });
    const env = {
      ...envOf(rig, { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: SALT, DAYWALK_USERS: 'pseudonym' }),
      ...{ DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T04:00:00Z` },
    };
    const call = async (args: readonly string[], more = {}) => {
      const ended = await daywalkInProcess(args, { env: { ...env, ...more }, cwd: tempDir() });
      expect(ended.code, `${args.join(' ')}: ${ended.stderr}`).toBe(0);
      return ended;
    };
    const stateOf = async (name: string) =>
      (await rig.column<string>(`SELECT value FROM export_state WHERE name = '${name}'`)).join();
    return { rig, call, stateOf };
  };
  /** A run that pulls every day again finds every person under the same pseudonym. */
  const again = { settings: { emails: PSEUDONYM }, force: true, command: 'backfill' };
  const nothingNew = { exitCode: 0, unitsFailed: 0, restatements: 0, rowsWritten: 0 };

  describe('a person keeps the pseudonym', () => {
    test('in a copy and a restored backup, whose runs make the same; a published file has no key', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, call, stateOf } = await exported(PSEUDONYM);
      const [key = ''] = JSON.parse(await stateOf('erased-keys'));
      expect(key).toHaveLength(64);
      const folder = tempDir();
      const [backup, published] = [join(folder, 'backup.db'), join(folder, 'published.db')];
      await call(['backup', backup]);
      await call(['publish', '--sqlite', published]);
      expect(readFileSync(published, 'latin1')).not.toContain(key);
      expect(readFileSync(backup, 'latin1')).toContain(key);
      const copied = rigOver(rig.emulator, await database.migrated(), today);
      await call(['copy', '--to', copied.place.location]);
      const alone = { ...again, settings: { emails: PSEUDONYM, leavesArchiveOut: true } };
      expect((await copied.run(alone)).report).toMatchObject(nothingNew);
      const restored = rigOver(rig.emulator, await database.migrated(), today);
      await call(['restore', backup, '--replace'], { DAYWALK_WAREHOUSE: restored.place.location });
      expect((await restored.run(alone)).report).toMatchObject(nothingNew);
      expect(await copied.digest()).toBe(await rig.digest());
    });

    test('in a warehouse that is rebuilt from the archive, also in its next run', {
      tags: 'ci/rare',
    }, async () => {
      const { rig } = await exported(PSEUDONYM);
      const { rig: rebuilt } = await rig.replayInto({}, { emails: PSEUDONYM });
      expect(await rebuilt.digest()).toBe(await rig.digest());
      const settings = { emails: PSEUDONYM, archives: [rig.folder] };
      expect((await rebuilt.run({ ...again, settings })).report).toMatchObject(nothingNew);
    });

    test('from night to night, so that days settle, and a later restatement is about the same people', async () => {
      const { rig } = await exported(PSEUDONYM);
      for (const night of ['2026-01-25', '2026-01-26'] as const)
        expect(
          (await rig.run({ now: parseDay(night), settings: { emails: PSEUDONYM } })).report,
        ).toMatchObject({
          exitCode: 0,
          restatements: 0,
        });
      const settled = "SELECT COUNT(*) FROM export_units WHERE stream = 'users' AND settled_at IS NOT NULL";
      expect((await rig.column<number>(settled))[0]).toBeGreaterThan(5);
      const people = 'SELECT DISTINCT user_id FROM user_daily ORDER BY user_id';
      const before = await rig.column(people);
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-16') });
      let restated = 0;
      for (const night of ['2026-01-27', '2026-01-28', '2026-01-29'] as const) {
        const { report } = await rig.run({ now: parseDay(night), settings: { emails: PSEUDONYM } });
        restated += report.restatements;
      }
      expect(restated).toBeGreaterThan(0);
      expect(await rig.column(people)).toEqual(expect.arrayContaining(before));
    });
  });

  test('an erased person with a pseudonym does not come back, in no run and no replay', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, call } = await exported(PSEUDONYM);
    const clear = await archivedRig({ today, users: 10, reports: 4 }, database);
    await clear.run({ settings: { emails: HASH } });
    const [user = ''] = await clear.column<string>('SELECT MIN(user_id) FROM user_daily');
    const before = await rig.column<string>('SELECT DISTINCT user_id FROM user_daily');
    await call(['erase', '--user', user]);
    const after = await rig.column<string>('SELECT DISTINCT user_id FROM user_daily');
    const [gone = '', ...others] = before.filter((each) => !after.includes(each));
    expect([gone, others]).toEqual([expect.stringMatching(/^person-/), []]);
    expect((await rig.run(again)).report).toMatchObject(nothingNew);
    const searched = { place: rig.place, archive: rig.folder, spool: '' };
    expect(await placesOf([gone, user], searched)).toEqual([]);
    const { rig: replayed } = await rig.replayInto({}, { emails: PSEUDONYM });
    expect(await replayed.digest()).toBe(await rig.digest());
    expect((await call(['person', 'show', '--user', user])).stdout).toContain('erased');
  });

  describe('an archive of the time before a policy of users', () => {
    testVariants([PSEUDONYM, NONE] as const)(
      '$users: is replayed as a run would store it; a run refuses to write it until it is swept',
      { tags: 'ci/rare' },
      async (policy) => {
        const { rig, call } = await exported(HASH);
        const { rig: rebuilt, result } = await rig.replayInto({}, { emails: policy });
        expect(result.exitCode).toBe(0);
        const raw = "SELECT COUNT(*) FROM user_daily WHERE user_id NOT LIKE 'person-%'";
        expect(await rebuilt.column(raw)).toEqual([0]);
        const alone = { ...again, settings: { emails: policy, leavesArchiveOut: true } };
        expect((await rebuilt.run(alone)).report).toMatchObject(nothingNew);

        const settings = { emails: policy, archives: [rig.folder] };
        const before = await rebuilt.digest();
        rig.emulator.resetJournal();
        const refused = await thrownBy(rebuilt.run({ ...again, settings }));
        expect(refused).toMatchObject({
          exitCode: 2,
          message: expect.stringMatching(/the users in .*archive\.db are stored under "keep"/),
          reason: 'policy-not-applied',
        });
        expect([await rebuilt.digest(), rig.emulator.journal().requests]).toEqual([before, 0]);
        const searched = { place: rebuilt.place, archive: rig.folder, spool: '' };
        expect(await placesOf(['user_0'], searched)).not.toEqual([]);

        const own = { DAYWALK_WAREHOUSE: rebuilt.place.location, DAYWALK_USERS: policy.users ?? '' };
        await call(['privacy', 'apply', '--yes'], own);
        expect(await placesOf(['user_0'], searched)).toEqual([]);
        expect((await rebuilt.run({ ...again, settings })).report).toMatchObject(nothingNew);
        const { rig: third } = await rig.replayInto({}, { emails: policy });
        expect(await third.digest()).toBe(await rebuilt.digest());
      },
    );

    test('is refused where it is attached later, also one of an earlier build, which noted no policy', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, call } = await exported(HASH);
      await forgetPolicy(rig.folder);
      const other = rigOver(rig.emulator, await database.migrated(), today);
      expect((await other.run({ settings: { emails: PSEUDONYM } })).report.exitCode).toBe(0);
      const settings = { emails: PSEUDONYM, archives: [rig.folder] };
      const foreign = await thrownBy(other.run({ settings }));
      expect(foreign).toMatchObject({ exitCode: 6, reason: 'identity' });
      const own = { DAYWALK_WAREHOUSE: other.place.location };
      await call(['adopt', adviceOf(foreign).facts?.['id'] ?? ''], own);
      expect(await thrownBy(other.run({ settings }))).toMatchObject({
        exitCode: 2,
        reason: 'policy-not-applied',
      });
      await call(['privacy', 'apply', '--yes'], own);
      expect((await other.run({ settings })).report.exitCode).toBe(0);
      const searched = { place: other.place, archive: rig.folder, spool: '' };
      expect(await placesOf(['user_0'], searched)).toEqual([]);
    });

    test('goes on if runs of this warehouse have written it under the same policy in an earlier build', {
      tags: 'ci/rare',
    }, async () => {
      const { rig } = await exported(PSEUDONYM);
      await forgetPolicy(rig.folder);
      expect((await rig.run(again)).report).toMatchObject(nothingNew);
      const noted = await withArchive(ArchiveFile.read(rig.folder), async (file) => file.meta('policy'));
      expect(noted).toBe(JSON.stringify({ emails: 'hash', users: 'pseudonym' }));
    });
  });
});
