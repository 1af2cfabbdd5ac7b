import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { applyPolicy } from '../../../jobs/privacy.ts';
import { contentTables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { readErasures } from '../../../src/kept-out/erasures-file.ts';
import { listErased, readKeptOut } from '../../../src/kept-out/list.ts';
import { writeState } from '../../../src/records/remembered.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import {
  backUpTo,
  copyTo,
  restoreFrom,
  testOf,
  valuesIn,
  warnings,
} from '../../support/backup/run-backup.ts';
import { contentOf, copy } from '../../support/copy/run-copy.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { begin } from '../../support/rig/exported-rig.ts';
import { contextOf, rigOver } from '../../support/rig/rig.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { verify } from '../../support/verify/run-verify.ts';
import {
  type Database,
  databases,
  needsSessions,
  onEachDatabase,
  open,
} from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-26');

/** An installation with an archive and a file of erasures, its backup from four nights ago, and what is known since. */
async function installation(database: Database, changed: Partial<Settings> = {}) {
  const erasures = join(tempDir(), 'erasures');
  const rig = await archivedRig({ today, users: 9, reports: 3 }, database, { erasures, ...changed });
  await begin(rig, ['nine people', changed], () => rig.run({ now: parseDay('2026-01-22') }));
  const file = tempFile('backup.db');
  const before = await rig.digest();
  const person = await somebody(rig);
  await backUpTo(rig, file, { withArchive: true });
  const target = await database.migrated();
  const at = (more: Partial<Settings> = {}) => ({
    settings: { ...rig.settings, warehouse: target.location, ...more },
    today,
  });
  const restored = rigOver(rig.emulator, target, today);
  const searched = { place: target, archive: '', spool: '' };
  return { rig, file, before, ...person, erasures, target, at, restored, searched };
}

onEachDatabase((database) => {
  beforeEach(() => needsSessions(database));

  describe('a backup from before an erasure', () => {
    test('is restored without the person if the archive knows of it, and a run adds nobody and nothing', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, file, user, email, at, restored, searched, target } = await installation(database);
      await eraseFrom(rig, { user }, { erasures: null });
      expect(valuesIn([user], file)).not.toEqual([]);
      const report = await restoreFrom(at({ erasures: null }), file);
      expect(report).toMatchObject({ exitCode: 0, knowsErasures: true });
      expect(report.erasuresApplied).toBeGreaterThan(0);
      expect(await placesOf([user, email], searched)).toEqual([]);
      const users = (place: typeof target) =>
        place.query("SELECT COUNT(DISTINCT user_id) AS users FROM user_daily WHERE date <= '2026-01-20'");
      expect(await users(target)).toEqual(await users(rig.place));
      const list = await readKeptOut(await open(target));
      expect(await target.query('SELECT 1 FROM erased WHERE certificate IS NULL')).toEqual([]);
      expect(list.entries).toEqual((await readKeptOut(await open(rig.place))).entries);
      // The next night stores what the nights since would have stored.
      await rig.run();
      await restored.run({ settings: { archives: [rig.folder] } });
      expect(await placesOf([user, email], searched)).toEqual([]);
      expect(await contentOf(target.location, contentTables)).toEqual(
        await contentOf(rig.path, contentTables),
      );
    });

    test('is restored without the person if only the file of erasures is left', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, file, user, email, at, searched, erasures } = await installation(database);
      await eraseFrom(rig, { user });
      expect(statSync(erasures).mode & 0o777).toBe(0o600);
      expect(valuesIn([user, email], erasures)).toEqual([]);
      lose(rig.folder);
      const report = await restoreFrom(at({ archives: [] }), file);
      expect(report).toMatchObject({ exitCode: 0, knowsErasures: true });
      expect(await placesOf([user, email], searched)).toEqual([]);
    });

    test('and its archive are restored as a pair without the person', { tags: 'ci/rare' }, async () => {
      const { rig, file, user, email, at, searched, restored } = await installation(database);
      await eraseFrom(rig, { user });
      lose(rig.folder);
      const folder = tempDir();
      const archive = join(folder, 'archive.db');
      const report = await restoreFrom(at({ archives: [archive] }), file, { withArchive: true });
      expect(report).toMatchObject({ exitCode: 0, archive });
      expect(await placesOf([user, email], { ...searched, archive })).toEqual([]);
      const digest = await restored.digest();
      const replayed = await rig.replayInto({ until: parseDay('2026-01-21') }, { archives: [archive] });
      expect(await replayed.rig.digest()).toBe(digest);
      expect((await restored.run({ settings: { archives: [archive] } })).report.exitCode).toBe(0);
    });

    test('says that erasures are unknown, and exits with 5 only if the backup knows of an earlier one', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, file, at } = await installation(database);
      const nobody = { archives: [], erasures: null };
      const other = tempFile('later.db');
      await eraseFrom(rig, { user: (await somebody(rig)).user }, { erasures: null });
      await backUpTo(rig, other);
      lose(rig.folder);
      expect(await restoreFrom(at(nobody), file)).toMatchObject({ exitCode: 0, knowsErasures: false });
      expect(warnings).toContainEqual(expect.stringContaining('erasures since the backup are unknown'));
      const again = await restoreFrom(at(nobody), other, { replace: true });
      expect(again).toMatchObject({ exitCode: 5, knowsErasures: false });
      expect((await testOf(rig, other)).exitCode).toBe(0);
    });

    test('whose address policy has changed since is stored as the policy says now', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, file, email, at, searched, restored } = await installation(database);
      const emails = { mode: 'hash', salt: 'a salt that is long enough' } as const;
      expect(await restoreFrom(at({ emails, erasures: null }), file)).toMatchObject({ exitCode: 0 });
      expect(await placesOf([email], searched)).toEqual([]);
      // The archive is from before the change, too.
      const settings = { emails, archives: [rig.folder] };
      expect(await thrownBy(restored.run({ settings }))).toMatchObject({
        exitCode: 2,
        reason: 'policy-not-applied',
      });
      const applied = { isDryRun: false, wait: false };
      await applyPolicy({ ...restored.settings, ...settings }, applied, contextOf(today));
      expect((await restored.run({ settings })).report.exitCode).toBe(0);
      expect(await restored.value('SELECT COUNT(*) FROM restatements')).toBe(0);
    });
  });

  test('a backup that is restored after a stricter policy keeps nothing that the policy excludes, also in unused bytes', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, file, at, searched } = await installation(database);
    const emails = { mode: 'hash', salt: 'a salt that is long enough' } as const;
    const over = { settings: { ...rig.settings, emails }, today };
    const excluded = await rig.column(
      'SELECT DISTINCT user_email FROM user_daily WHERE user_email IS NOT NULL',
    );
    expect(await placesOf(excluded, { ...searched, place: rig.place })).not.toEqual([]);
    expect(await restoreFrom(at({ emails }), file)).toMatchObject({ exitCode: 0 });
    expect(await placesOf(excluded, searched)).toEqual([]);
    // The warehouse has rows from before the policy, too.
    expect(await restoreFrom(over, file, { replace: true })).toMatchObject({ exitCode: 0 });
    expect(await placesOf(excluded, { ...searched, place: rig.place })).toEqual([]);
  });

  test('a backup that kept less of people than the settings do stays so, and a run never mixes IDs with pseudonyms', {
    tags: 'ci/rare',
  }, async () => {
    const emails = { mode: 'hash', salt: 'a salt that is long enough', users: 'pseudonym' } as const;
    const { rig, file, at, restored } = await installation(database, { emails });
    const loose = { emails: { mode: 'keep' }, archives: [rig.folder], erasures: null } as const;
    const people = () => restored.column<string>('SELECT DISTINCT user_id FROM user_daily ORDER BY user_id');
    expect(await restoreFrom(at(loose), file)).toMatchObject({ exitCode: 0 });
    const before = await people();
    expect(await thrownBy(restored.run({ settings: loose }))).toMatchObject({ exitCode: 2 });
    expect(await people()).toEqual(before);
    // With the former settings, nothing has to be applied.
    const settings = { emails, archives: [rig.folder], erasures: null };
    expect((await restored.run({ settings })).report.exitCode).toBe(0);
    for (const user of await people()) expect(user).toMatch(/^person-/);
  });

  test('a backup with people is restored under a policy that keeps none, and nothing of it is broken', {
    tags: 'ci/variant',
  }, async () => {
    const { file, at, restored } = await installation(database);
    const emails = { mode: 'hash', salt: 'a salt that is long enough', users: 'none' } as const;
    expect(await restoreFrom(at({ emails, erasures: null }), file)).toMatchObject({ exitCode: 0 });
    expect(await restored.value('SELECT COUNT(*) FROM tokens_daily')).toBeGreaterThan(0);
    for (const table of ['user_daily', 'tokens_daily_by_user'])
      expect(await restored.value(`SELECT COUNT(*) FROM ${table}`)).toBe(0);
    expect((await verify(restored)).findings.filter(({ severity }) => severity === 'broken')).toEqual([]);
  });

  describe('an older warehouse that another tool has put back', () => {
    const places = [
      ['an archive', { erasures: null }],
      ['the file of erasures', { archives: [] }],
    ] as const;

    testVariants(places)(
      'is copied without the person if %s knows of the erasure',
      { tags: 'ci/rare' },
      async (_name, known) => {
        const { rig, user, email, target, searched } = await installation(database);
        const older = await database.migrated();
        const settings = { ...rig.settings, erasures: null };
        await copyTo({ settings, today }, older.location);
        await older.execute("DELETE FROM export_state WHERE name = 'archives'");
        await eraseFrom(rig, { user });
        const from = { ...rig.settings, ...known, warehouse: older.location };
        const act = randomUUID();
        await target.execute(
          `INSERT INTO acts (act_id, kind, done_at) VALUES ('${act}', 'people', '2026-01-20T00:00:00.000Z')`,
        );
        expect(await placesOf([user, email], { ...searched, place: older })).not.toEqual([]);
        expect(await copyTo({ settings: from, today }, target.location)).toMatchObject({ exitCode: 0 });
        expect(await placesOf([user, email], searched)).toEqual([]);
        expect(await contentOf(target.location, contentTables)).toEqual(
          await contentOf(rig.path, contentTables),
        );
        // A restore would forget what was done to the destination.
        expect(await target.query('SELECT act_id FROM acts')).toContainEqual({ act_id: act });
        // A repetition reads the source anew, and changes nothing.
        expect(await copyTo({ settings: from, today }, target.location)).toMatchObject({
          exitCode: 0,
          rowsWritten: 0,
        });
        expect(await placesOf([user, email], searched)).toEqual([]);
      },
    );

    test('is copied with a warning if a place that is named is not there', async () => {
      const { rig, target } = await installation(database);
      const [archive, erasures] = [join(tempDir(), 'archive.db'), join(tempDir(), 'nowhere')];
      const named = { ...rig.settings, archives: [archive], erasures };
      expect(await copyTo({ settings: named, today }, target.location)).toMatchObject({ exitCode: 0 });
      expect(warnings).toEqual([
        `the archive ${archive} is not there`,
        `the list of erasures ${erasures} is not there`,
      ]);
    });

    test('is swept by the next run, which asks the file of erasures', { tags: 'ci/variant' }, async () => {
      const { rig, user, email, target, searched, restored, erasures } = await installation(database);
      await copyTo(rig, target.location);
      await target.execute("DELETE FROM export_state WHERE name = 'archives'");
      await eraseFrom(rig, { user });
      expect(await placesOf([user, email], searched)).not.toEqual([]);
      const settings = { erasures, archives: [], leavesArchiveOut: true };
      expect((await restored.run({ settings })).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(await placesOf([user, email], searched)).toEqual([]);
    });
  });

  describe('a restore', () => {
    test.each(databases.map(({ name }) => name))('into %s has the digest of the backup', async (name) => {
      const into = databases.find((each) => each.name === name) ?? database;
      if (into.missing !== null) return;
      const { file, before, at, rig } = await installation(database);
      const target = await into.migrated();
      const report = await restoreFrom(at({ warehouse: target.location }), file);
      expect(report).toMatchObject({ exitCode: 0, digest: before });
      const restored = rigOver(rig.emulator, target, today);
      expect(await restored.digest()).toBe(before);
      expect(await target.query('SELECT made_by FROM identity')).toEqual([{ made_by: 'restore' }]);
      expect(await target.query("SELECT 1 FROM export_state WHERE name = 'restoring'")).toEqual([]);
    });

    test('into a warehouse with rows is refused without --replace, and then replaces all of them', async () => {
      const { rig, file, before } = await installation(database);
      expect((await rig.run()).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      const later = await rig.digest();
      expect(later).not.toBe(before);
      expect(await thrownBy(restoreFrom(rig, file))).toMatchObject({
        exitCode: 2,
        reason: 'restore-onto-data',
      });
      expect(await rig.digest()).toBe(later);
      expect(await restoreFrom(rig, file, { replace: true })).toMatchObject({ exitCode: 0, digest: before });
      expect(await rig.digest()).toBe(before);
    });

    test('over a warehouse keeps what was sent since and what lakes still hold, under the policy of now', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, file } = await installation(database);
      const excluded = 'ada@example.com';
      const since: [string, string, string][] = [
        ['org_later', 'brief', '"2026-01-19"'],
        [
          'org_later',
          'incidents',
          JSON.stringify({ incidents: [], facts: { team: excluded }, restatedUntil: 'now' }),
        ],
        ['', 'lakes to renew', 'true'],
        ['org_later', 'ranges', '{"days":1,"refusedOn":null}'],
        ['org_erased', 'brief', '"2026-01-19"'],
      ];
      const erased = { kind: 'organization', value: 'org_erased' } as const;
      await listErased(await open(rig.place), 'org_erased', [erased], new Date());
      for (const state of since)
        await rig.place.execute('INSERT INTO export_state (org_id, name, value) VALUES (?, ?, ?)', ...state);
      const emails = { mode: 'hash', salt: 'a salt that is long enough' } as const;
      const over = { settings: { ...rig.settings, emails }, today };
      for (let time = 0; time < 2; time += 1)
        expect(await restoreFrom(over, file, { replace: true })).toMatchObject({ exitCode: 0 });
      const kept = await rig.place.query(
        "SELECT name, value FROM export_state WHERE org_id = 'org_later' OR name LIKE 'lakes%' ORDER BY name",
      );
      expect(kept.map(({ name }) => name)).toEqual(['brief', 'incidents', 'lakes to renew']);
      expect(JSON.stringify(kept)).not.toContain(excluded);
      expect(await rig.place.query("SELECT 1 FROM export_state WHERE org_id = 'org_erased'")).toEqual([]);
    });

    test('over an older warehouse has what was sent until the backup, and what lakes held then', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, file, target, at } = await installation(database);
      const put = (place: typeof target, org: string, name: string, value: string) =>
        place.execute('INSERT INTO export_state (org_id, name, value) VALUES (?, ?, ?)', org, name, value);
      await restoreFrom(at(), file);
      await put(target, 'org', 'brief', '"2026-01-12"');
      expect((await rig.run()).report).toMatchObject({ exitCode: 0 });
      await put(rig.place, 'org', 'brief', '"2026-01-19"');
      await put(rig.place, '', 'lakes to renew', 'true');
      const newer = tempFile('newer.db');
      await backUpTo(rig, newer);
      expect(await restoreFrom(at(), newer, { replace: true })).toMatchObject({ exitCode: 0 });
      const sent = "SELECT value FROM export_state WHERE name IN ('brief', 'lakes to renew') ORDER BY name";
      expect(await target.query(sent)).toEqual(await rig.place.query(sent));
    });

    test('that was interrupted keeps runs away, and resumes', { tags: 'ci/rare' }, async () => {
      const { rig, file, target, restored, at, before } = await installation(database);
      const id = query(file);
      await target.execute(
        `INSERT INTO export_state (org_id, name, value) VALUES ('', 'restoring', '"${id}"')`,
      );
      await target.execute(
        "INSERT INTO organizations (name, org_id, first_seen_at) VALUES ('x', 'org', '2026-01-01T00:00:00.000Z')",
      );
      expect(await thrownBy(restored.run())).toMatchObject({
        exitCode: 6,
        message: expect.stringContaining('was interrupted'),
      });
      // A part of a backup would pass for a warehouse if it were copied.
      expect(await thrownBy(backUpTo(at(), tempFile('part.db')))).toMatchObject({ exitCode: 6 });
      expect(await thrownBy(copy(at().settings.warehouse, tempFile('copy.db')))).toMatchObject({
        exitCode: 6,
      });
      expect(await restoreFrom(at(), file)).toMatchObject({ exitCode: 0, digest: before });
      expect((await restored.run({ settings: { archives: [rig.folder] } })).report.exitCode).toBe(0);
    });

    test('of a damaged backup changes nothing', async () => {
      const { rig, file, at, target } = await installation(database);
      const bytes = readFileSync(file);
      const broken = tempFile('broken.db');
      // One bit of a user's ID, in each place where it stands.
      const id = await rig.value("SELECT user_id FROM user_daily WHERE user_id NOT LIKE 'erased%'");
      let places = 0;
      for (let place = bytes.indexOf(String(id)); place >= 0; place = bytes.indexOf(String(id), place)) {
        bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
        places += 1;
      }
      expect(places).toBeGreaterThan(0);
      writeFileSync(broken, bytes);
      expect(await thrownBy(restoreFrom(at(), broken))).toMatchObject({ exitCode: 6 });
      expect(await thrownBy(testOf(at(), broken))).toMatchObject({ exitCode: 6 });
      expect(await target.query('SELECT 1 FROM export_state')).toEqual([]);
    });

    test('of another archive than that of the backup is refused', { tags: 'ci/rare' }, async () => {
      const { rig, file, at } = await installation(database);
      const other = tempFile('other.db');
      await backUpTo(rig, other, { withArchive: true });
      writeFileSync(file.replace('.db', '.archive.db'), readFileSync(other.replace('.db', '.archive.db')));
      const archives = [join(tempDir(), 'archive.db')];
      expect(await thrownBy(restoreFrom(at({ archives }), file, { withArchive: true }))).toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('belongs to another backup'),
      });
    });
  });

  describe('a test of a restore', () => {
    test('leaves nothing behind but a note of its success', async () => {
      const { rig, file, before } = await installation(database);
      // A folder of its own: other tests restore at the same time into the common one.
      const folder = tempDir();
      vi.stubEnv('TMPDIR', folder);
      onTestFinished(() => void vi.unstubAllEnvs());
      const made = new Set<string | null>();
      const watcher = watch(folder, (_event, name) => made.add(name));
      onTestFinished(() => watcher.close());
      const tested = await testOf(rig, file, true);
      expect(tested).toMatchObject({ exitCode: 0, digest: before, broken: 0, archiveDamages: 0 });
      expect([...made]).toEqual([expect.stringMatching(/^daywalk-/)]);
      expect(readdirSync(folder)).toEqual([]);
      const [noted] = await rig.sql("SELECT value FROM export_state WHERE name = 'last-restore-test'");
      expect(JSON.parse(String(noted?.['value']))).toEqual({
        backup: tested.backup?.id,
        at: '2026-01-26T03:00:00.000Z',
      });
      expect(await rig.digest()).toBe(before);
    });

    test('says that a backup is good beside a restore that was interrupted, and that nothing is noted', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, file } = await installation(database);
      await writeState(await open(rig.place), '', 'restoring', '"a backup"');
      const tested = await testOf(rig, file);
      expect(tested).toMatchObject({ exitCode: 0, broken: 0 });
      expect(await rig.sql("SELECT 1 FROM export_state WHERE name = 'last-restore-test'")).toEqual([]);
    });

    test('fails for a backup whose ledger contradicts its rows, and notes nothing', {
      tags: 'ci/rare',
    }, async () => {
      const { rig } = await installation(database);
      await rig.place.execute("UPDATE tokens_daily SET input_tokens = 7 WHERE date = '2026-01-20'");
      const file = tempFile('contradicting.db');
      await backUpTo(rig, file);
      expect(await testOf(rig, file)).toMatchObject({ exitCode: 5 });
      expect(await rig.sql("SELECT 1 FROM export_state WHERE name = 'last-restore-test'")).toEqual([]);
    });
  });

  describe('the file of erasures', () => {
    test('forgets a line that a kill has cut, and refuses one that is damaged', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user, erasures, file, at } = await installation(database);
      await eraseFrom(rig, { user });
      appendFileSync(erasures, 'deadbeef {"half');
      const [second] = await rig.column(
        "SELECT user_id FROM user_daily WHERE user_id NOT LIKE 'erased%' ORDER BY user_id",
      );
      await eraseFrom(rig, { user: second ?? '' });
      const lines = readFileSync(erasures, 'utf8').trimEnd().split('\n');
      expect(lines).toHaveLength(2);
      writeFileSync(erasures, `${lines[0]?.replace('erased-', 'erased_')}\n${lines[1]}\n`);
      expect(await thrownBy(restoreFrom(at(), file))).toMatchObject({
        exitCode: 6,
        message: expect.stringContaining('line 1 is damaged'),
      });
    });

    test('keeps an erased person out of a new warehouse, after everything else is lost', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, user, email, searched, restored, erasures, target } = await installation(database);
      await eraseFrom(rig, { user });
      const archives = [tempDir()];
      const settings = { erasures, archives };
      expect((await restored.run({ settings })).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      const [archive = ''] = archives;
      expect(await placesOf([user, email], { ...searched, archive })).toEqual([]);
      expect(await target.query("SELECT 1 FROM user_daily WHERE user_id LIKE 'erased%'")).not.toEqual([]);
      const known = await readKeptOut(await open(rig.place));
      expect((await readKeptOut(await open(target))).entries).toEqual(known.entries);
    });

    test('keeps an erased person out of a replay from an archive of before, and out of the archive', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user, email, file, erasures, searched } = await installation(database);
      const archive = join(tempDir(), 'archive.db');
      writeFileSync(archive, readFileSync(file.replace('.db', '.archive.db')));
      await eraseFrom(rig, { user });
      expect(await placesOf([user, email], { ...searched, archive })).not.toEqual([]);
      const replayed = await rig.replayInto({}, { erasures, archives: [archive] });
      expect(replayed.result).toMatchObject({ exitCode: 0 });
      expect(await placesOf([user, email], { place: replayed.rig.place, archive, spool: '' })).toEqual([]);
    });

    testVariants(['a run', 'a replay'])('is complete after %s, if it was named later', async (command) => {
      const { rig, user } = await installation(database);
      await eraseFrom(rig, { user }, { erasures: null });
      const erasures = join(tempDir(), 'named-later');
      if (command === 'a run') await rig.run({ settings: { erasures } });
      else await rig.replay({}, { erasures });
      expect(statSync(erasures).mode & 0o777).toBe(0o600);
      expect(readErasures(erasures)).toEqual(await readKeptOut(await open(rig.place)));
      const bytes = readFileSync(erasures, 'utf8');
      await rig.run({ settings: { erasures } });
      expect(readFileSync(erasures, 'utf8')).toBe(bytes);
    });

    test('that is damaged ends a run, and one that cannot be written only warns', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user, erasures, before } = await installation(database);
      await eraseFrom(rig, { user }, { erasures: null });
      writeFileSync(erasures, 'deadbeef {}\n');
      const digest = await rig.digest();
      expect(digest).not.toBe(before);
      expect(await thrownBy(rig.run())).toMatchObject({
        exitCode: 6,
        message: expect.stringContaining('line 1 is damaged'),
      });
      expect(await rig.digest()).toBe(digest);
      const missing = join(tempDir(), 'missing', 'erasures');
      const { report, events } = await rig.run({ settings: { erasures: missing } });
      expect(report.exitCode).toBe(0);
      expect(events).toContainEqual(
        expect.objectContaining({
          type: 'warning',
          message: expect.stringContaining('add to the list of erasures'),
        }),
      );
    });

    test('that cannot be written ends an erasure before it changes anything', async () => {
      const { rig, user, before } = await installation(database);
      const erasures = join(tempDir(), 'missing', 'erasures');
      expect(await thrownBy(eraseFrom(rig, { user }, { erasures }))).toMatchObject({ exitCode: 6 });
      expect(await rig.digest()).toBe(before);
    });
  });
});

/** Removes everything in a folder, like a volume that was replaced by an empty one. */
function lose(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}

/** The ID of a backup. */
function query(file: string): string {
  const db = new Sqlite(file, { readonly: true });
  try {
    return String(
      (JSON.parse(String(db.prepare('SELECT record FROM daywalk_backup').pluck().get())) as { id: string })
        .id,
    );
  } finally {
    db.close();
  }
}
