import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { copyWarehouse } from '../../../jobs/copy.ts';
import { drainHooks } from '../../../jobs/drain.ts';
import type { CopyEvent } from '../../../src/copy/events.ts';
import { parseDay } from '../../../src/core/day.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { type Database, needsSessions, onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-30');

const everything = {
  command: 'backfill',
  from: parseDay('2026-01-14'),
  until: parseDay('2026-01-29'),
  force: true,
} as const;

/** A warehouse in which a person is in every kind of table, an archive of it, and a function that copies. */
async function exported(database: Database) {
  needsSessions(database);
  const rig = await archivedRig({ today, users: 12, reports: 4 }, database);
  rig.emulator.setQuirks({ unknownFields: true });
  await rig.run({ now: parseDay('2026-01-29') });
  rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-28') });
  const person = await somebody(rig);
  const service = await rewritingService(rig.emulator.url);
  const settings = { baseUrl: service.url, appUrl: service.url };
  const named = `"user_id":"${person.user}"`;
  service.rewrite((text) =>
    text
      .replaceAll(named, `${named},"about":"see ${person.user}, or <${person.email}>"`)
      .replaceAll('"messages":7', '"messages":"seven"'),
  );
  await rig.run({ settings, force: true });
  await loadFiles(rig.path, person);
  const spool = join(tempDir(), 'spool');
  mkdirSync(spool);
  const event = { hook_event_name: 'Notification', message: `ask ${person.user} or ${person.email}` };
  const line = { receivedAt: '2026-01-30T02:00:00.000Z', order: '1-1', text: JSON.stringify(event) };
  appendFileSync(join(spool, 'events.jsonl'), encodeRecord(line));
  await drainHooks({ ...rig.settings, spool }, contextOf(today));
  const events: CopyEvent[] = [];
  const copy = (from: string, to: string, replace = false) =>
    copyWarehouse(
      { ...rig.settings, warehouse: from },
      { to, replace, wait: false },
      { ...contextOf(today), observe: (each) => events.push(each) },
    );
  return { rig, ...person, spool, copy, events };
}

async function loadFiles(warehouse: string, { user, email }: { user: string; email: string }) {
  const folder = tempDir();
  writeFileSync(join(folder, 'people.csv'), `user_id,user_email,name,team\n${user},${email},Zorro,Red\n`);
  const env = { DAYWALK_WAREHOUSE: warehouse };
  const loaded = await daywalkInProcess(['people', 'load', 'people.csv'], { env, cwd: folder });
  expect(loaded.code, loaded.stderr).toBe(0);
}

onEachDatabase((database) => {
  describe('a copy', () => {
    beforeEach(() => needsSessions(database));

    test('from an older warehouse goes through the list: nobody comes back, and all else is equal', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, user, email, copy } = await exported(database);
      const [older, target] = [await database.migrated(), await database.migrated()];
      expect((await copy(rig.path, older.location)).exitCode).toBe(0);
      const searchedIn = (place: typeof older) => ({ place, archive: '', spool: '' });
      const values = [user, email, 'Zorro'];
      const before = await placesOf(values, searchedIn(older));
      expect(before.length).toBeGreaterThan(2);
      await eraseFrom(rig, { user });
      const digest = await rig.digest();
      // The list is in the new place, and everything else is written from the older warehouse.
      expect((await copy(rig.path, target.location)).exitCode).toBe(0);
      for (const place of [rig.place, target]) {
        const report = await copy(older.location, place.location, true);
        expect(report).toMatchObject({ exitCode: 0, digest: { from: digest, to: digest } });
        expect(report.tables.filter(({ isSame }) => !isSame)).toEqual([]);
        expect(report.tables.filter(({ written, removed }) => written + removed > 0)).toEqual([]);
        expect(await placesOf(values, searchedIn(place))).toEqual([]);
      }
      // Without what was there, the copy brings all of it, but not the person.
      await target.execute('DELETE FROM user_daily');
      await target.execute('DELETE FROM people');
      await target.execute('DELETE FROM hook_events');
      await target.execute('DELETE FROM quarantine');
      await target.execute('DELETE FROM export_units');
      expect((await copy(older.location, target.location)).digest).toEqual({ from: digest, to: digest });
      expect(await placesOf(values, searchedIn(target))).toEqual([]);
      const later = await rig.run({ ...everything, settings: { warehouse: target.location } });
      expect(later.report).toMatchObject({ exitCode: 5, unitsFailed: 0 });
      expect(await placesOf([user, email], searchedIn(target))).toEqual([]);
      expect(await placesOf([user], searchedIn(older))).not.toEqual([]);
    });

    test('knows whom each side has erased, also under different keys', { tags: 'ci/rare' }, async () => {
      const { rig, user, email, copy } = await exported(database);
      const target = await database.migrated();
      expect((await copy(rig.path, target.location)).exitCode).toBe(0);
      const other = { ...rig, settings: { ...rig.settings, warehouse: target.location } };
      const keys = (place: typeof target) =>
        place.query("SELECT value FROM export_state WHERE name = 'erased-keys'");
      expect(await keys(target)).toEqual(await keys(rig.place));
      // Copies of older versions did not share the key, and without the archive nobody tells it.
      await target.execute("DELETE FROM export_state WHERE name IN ('erased-keys', 'archives')");
      const { certificate: first } = await eraseFrom(rig, { user });
      const { certificate: second } = await eraseFrom(other, { user }, { archives: [] });
      expect(second.pseudonyms).not.toEqual(first.pseudonyms);
      const [somebodyElse] = await target.query<{ user: string }>(
        `SELECT user_id AS "user" FROM user_daily WHERE user_id NOT LIKE 'erased%' ORDER BY user_id LIMIT 1`,
      );
      const third = somebodyElse?.user ?? '';
      await eraseFrom(other, { user: third });
      expect((await copy(rig.path, target.location, true)).exitCode).toBe(0);
      const searched = { place: target, archive: '', spool: '' };
      expect(await placesOf([user, email, third], searched)).toEqual([]);
      const erased = () =>
        target.query(
          "SELECT DISTINCT user_id AS id FROM user_daily WHERE user_id LIKE 'erased%' ORDER BY id",
        );
      const pseudonyms = await erased();
      expect(pseudonyms).toHaveLength(2);
      expect(pseudonyms).toContainEqual({ id: first.pseudonyms[0] });
      const later = await rig.run({ ...everything, settings: { warehouse: target.location } });
      expect(later.report).toMatchObject({ exitCode: 5, unitsFailed: 0 });
      expect(await placesOf([user, email, third], searched)).toEqual([]);
      expect(await erased()).toEqual(pseudonyms);
    });

    test('leaves out an organization that was erased from the destination, and says so', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, copy, events } = await exported(database);
      const older = await database.migrated();
      expect((await copy(rig.path, older.location)).exitCode).toBe(0);
      const orgId = await rig.value<string>('SELECT min(org_id) FROM export_units');
      await eraseFrom(rig, { organization: orgId });
      events.length = 0;
      expect((await copy(older.location, rig.path, true)).exitCode).toBe(0);
      expect(await rig.value('SELECT count(*) FROM user_daily')).toBe(0);
      expect(await rig.value('SELECT count(*) FROM export_units')).toBe(0);
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'warning', message: expect.stringContaining(`${orgId} was erased`) }),
      );
    });

    test('is refused while an erasure is interrupted on either side', { tags: 'ci/rare' }, async () => {
      const { rig, copy } = await exported(database);
      const target = await database.migrated();
      await copy(rig.path, target.location);
      await rig.place.execute("INSERT INTO export_state (org_id, name, value) VALUES ('x', 'erasure', '{}')");
      await expect(copy(rig.path, target.location)).rejects.toMatchObject({ exitCode: 75 });
      await expect(copy(target.location, rig.path, true)).rejects.toMatchObject({ exitCode: 75 });
    });

    test('with --replace keeps the list, the keys and the archives of the destination', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, user, copy } = await exported(database);
      const source = await database.migrated();
      expect((await copy(rig.path, source.location)).exitCode).toBe(0);
      await source.execute("DELETE FROM export_state WHERE name IN ('archives', 'erased-keys')");
      await eraseFrom(rig, { user });
      const state = () =>
        rig.sql(
          "SELECT name, value FROM export_state WHERE name IN ('archives', 'published') AND org_id = '' ORDER BY name",
        );
      const [before, list] = [await state(), await rig.sql('SELECT * FROM erased ORDER BY subject_hmac')];
      expect(before.length).toBeGreaterThan(0);
      expect((await copy(source.location, rig.path, true)).exitCode).toBe(0);
      expect(await state()).toEqual(before);
      expect(await rig.sql('SELECT * FROM erased ORDER BY subject_hmac')).toEqual(list);
    });
  });
});
