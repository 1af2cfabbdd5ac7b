import { appendFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drainHooks } from '../../../jobs/drain.ts';
import { parseDay } from '../../../src/core/day.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { type ArchivedRig, archivedRig } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { copyOf } from '../../support/warehouse/earlier-state.ts';

const today = parseDay('2026-01-30');
const SMALL = { today, users: 12, reports: 4 };

/** An exported warehouse with an archive, and a person in it. */
async function erasable(database: Database, emails: EmailPolicy = { mode: 'keep' }) {
  const rig = await archivedRig(SMALL, database, { emails });
  await rig.run();
  const spool = join(tempDir(), 'spool');
  mkdirSync(spool);
  const person = await somebody(rig);
  const searched = { place: rig.place, archive: rig.folder, spool };
  const found = (values: readonly string[] = [person.user, person.email]) => placesOf(values, searched);
  return {
    rig,
    spool,
    ...person,
    found,
    erase: () => eraseFrom(rig, { user: person.user }, { spool, emails }),
  };
}

const everything = {
  command: 'backfill',
  from: parseDay('2026-01-14'),
  until: parseDay('2026-01-29'),
  force: true,
} as const;

/** Writes a received event into a spool. */
function receive(spool: string, event: object, order: string): void {
  const text = JSON.stringify(event);
  appendFileSync(
    join(spool, 'events.jsonl'),
    encodeRecord({ receivedAt: '2026-01-30T02:00:00.000Z', order, text }),
  );
}

function people(rig: ArchivedRig, lines: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const folder = tempDir();
  writeFileSync(join(folder, 'people.csv'), `${lines.join('\n')}\n`);
  return daywalkInProcess(['people', 'load', 'people.csv'], {
    env: { DAYWALK_WAREHOUSE: rig.path, ...env },
    cwd: folder,
  });
}

onEachDatabase((database) => {
  describe('an erased person does not come back', () => {
    test('with a new address for the same ID, also where the address stands alone', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user, email, found, erase } = await erasable(database);
      await erase();
      const service = await rewritingService(rig.emulator.url);
      const settings = { baseUrl: service.url, appUrl: service.url };
      const fresh = 'somebody.new@example.org';
      service.rewrite((text) => text.replaceAll(email, fresh));
      const { report } = await rig.run({ ...everything, settings });
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(await found([user, email, fresh])).toEqual([]);
      service.rewrite((text) => text.replaceAll(email, fresh).replaceAll('"tool":"', `"tool":"${fresh} `));
      await rig.run({ ...everything, settings });
      expect(await found([user, email, fresh])).toEqual([]);
      expect(await rig.value("SELECT count(*) FROM erased WHERE kind = 'email'")).toBe(2);
    });

    test('with unknown fields, names, free text and records in quarantine', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, user, email, found, erase } = await erasable(database);
      const service = await rewritingService(rig.emulator.url);
      const settings = { baseUrl: service.url, appUrl: service.url };
      const named = `"user_id":"${user}"`;
      const more = `${named},"display_name":"Zorro Vega","about":"see ${user}, or <${email}>","other":{"email":"zorro@vega.example"}`;
      service.rewrite((text) =>
        text.replaceAll(named, more).replaceAll('"messages":7', '"messages":"seven"'),
      );
      await rig.run({ ...everything, settings });
      expect(await rig.value('SELECT count(*) FROM quarantine')).toBeGreaterThan(0);
      const values = [user, email, 'Zorro', 'zorro@vega'];
      expect((await found(values)).length).toBeGreaterThan(5);
      await erase();
      expect(await found(values)).toEqual([]);
      const digest = await rig.digest();
      const quarantine = await rig.sql(
        'SELECT stream, date, record_sha256, first_seen_at FROM quarantine ORDER BY 1, 2, 3',
      );
      await rig.run({ ...everything, settings });
      expect(await found(values)).toEqual([]);
      expect(await rig.digest()).toBe(digest);
      expect(
        await rig.sql('SELECT stream, date, record_sha256, first_seen_at FROM quarantine ORDER BY 1, 2, 3'),
      ).toEqual(quarantine);
    });

    test('in a file of people: the team stays, the name does not', { tags: 'ci/rare' }, async () => {
      const { rig, user, email, found, erase } = await erasable(database);
      const lines = [
        'user_id,user_email,name,team,manager_email',
        `${user},${email},Zorro,Red,boss@example.com`,
      ];
      expect((await people(rig, lines)).code).toBe(0);
      expect((await found(['Zorro', user])).length).toBeGreaterThan(1);
      await erase();
      const teams = () => rig.sql('SELECT team, count(*) AS users FROM user_teams GROUP BY team');
      const before = await teams();
      expect(before).toEqual([{ team: 'Red', users: 1 }]);
      expect(await found([user, email, 'Zorro'])).toEqual([]);
      expect((await people(rig, lines)).code).toBe(0);
      expect(await teams()).toEqual(before);
      expect((await people(rig, ['user_email,name,team', `${email.toUpperCase()},Zorro,Red`])).code).toBe(0);
      expect(await teams()).toEqual(before);
      expect(await found([user, email, 'Zorro'])).toEqual([]);
      expect(await rig.column('SELECT DISTINCT manager_email FROM people')).toEqual([null]);
    });

    test('in a file of people that names a new address beside the ID, and alone as that of a manager', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user, found, erase } = await erasable(database);
      await erase();
      const other = await rig.value<string>('SELECT max(user_id) FROM user_daily WHERE user_id <> ?', user);
      const fresh = 'somebody.new@example.org';
      const lines = [
        'user_id,user_email,team,manager_email',
        `${other},,Blue,${fresh}`,
        `${user},${fresh},Red,`,
      ];
      expect((await people(rig, lines)).code).toBe(0);
      expect(await found([user, fresh])).toEqual([]);
      expect(await rig.column('SELECT manager_email FROM people ORDER BY team')).toEqual([
        expect.stringMatching(/^erased-/),
        null,
      ]);
    });

    test('with hook events, before the erasure or after it, and none is stored twice', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, spool, user, email, found, erase } = await erasable(database);
      const settings = { ...rig.settings, spool };
      const event = {
        hook_event_name: 'Notification',
        message: `ask ${user} or ${email}`,
        cwd: `/home/${user}/x`,
        [email]: 1,
      };
      receive(spool, event, '1-1');
      cpSync(join(spool, 'events.jsonl'), join(spool, 'events.copy'));
      await drainHooks(settings, contextOf(today));
      cpSync(join(spool, 'events.copy'), join(spool, 'events.jsonl'));
      receive(spool, event, '1-2');
      writeFileSync(join(spool, 'sealed-old.jsonl.kept'), `{"v":9,"who":"${user}"}\n`);
      cpSync(join(spool, 'sealed-old.jsonl.kept'), join(spool, 'events.copy'));
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(1);
      await erase();
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(2);
      expect((await found()).filter((place) => !place.includes('events.copy'))).toEqual([]);
      receive(spool, event, '1-3');
      await drainHooks(settings, contextOf(today));
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(3);
      expect((await found()).filter((place) => !place.includes('events.copy'))).toEqual([]);
      expect(existsSync(join(spool, 'sealed-old.jsonl.kept'))).toBe(true);
    });

    test('by a load or a drain into an older state that was put back by other means, if the file of erasures is named', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, spool, user, email } = await erasable(database);
      const erasures = join(tempDir(), 'erasures');
      const older = await copyOf(rig.place);
      await eraseFrom(rig, { user }, { spool, erasures });
      await older();
      expect(await rig.value('SELECT count(*) FROM erased')).toBe(0);
      const lines = ['user_id,user_email,name,team', `${user},${email},Zorro,Red`];
      expect((await people(rig, lines, { DAYWALK_ERASURES: erasures })).code).toBe(0);
      expect(await rig.column('SELECT person FROM people')).toEqual([expect.stringMatching(/^erased-/)]);
      await rig.place.execute("DELETE FROM erased; DELETE FROM export_state WHERE name = 'erased-keys'");
      receive(spool, { hook_event_name: 'Notification', message: `ask ${email}` }, '1-1');
      await drainHooks({ ...rig.settings, spool, erasures }, contextOf(today));
      expect(await rig.column('SELECT message FROM hook_events')).toEqual([
        expect.stringMatching(/^ask erased-/),
      ]);
      // Their rows are swept by the next run, before it pulls anything.
      await rig.run({ settings: { erasures, archives: [], leavesArchiveOut: true } });
      expect(await rig.value('SELECT count(*) FROM user_daily WHERE user_id = ?', user)).toBe(0);
    });

    test('from events in the spool, which name an address that was never stored', async () => {
      const rig = await archivedRig(SMALL, database);
      await rig.run();
      const user = (await rig.value<string>('SELECT min(user_id) FROM user_daily')) ?? '';
      const spool = tempDir();
      const fresh = 'somebody.new@example.org';
      const event = { hook_event_name: 'Notification' };
      receive(spool, { ...event, message: `ask ${fresh}` }, '1-1');
      receive(spool, { ...event, user_id: user, user_email: fresh }, '1-2');
      receive(spool, { ...event, message: 'ask somebody else' }, '1-3');
      const counted = await eraseFrom(rig, { user, isDryRun: true }, { spool });
      const { certificate } = await eraseFrom(rig, { user }, { spool });
      expect([counted.certificate.spool_lines, certificate.spool_lines]).toEqual([2, 2]);
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(3);
      expect(await placesOf([user, fresh], { place: rig.place, archive: rig.folder, spool })).toEqual([]);
    });

    test('from events that come later, and name an address that was never stored', async () => {
      const rig = await archivedRig(SMALL, database);
      await rig.run();
      const user = (await rig.value<string>('SELECT min(user_id) FROM user_daily')) ?? '';
      const spool = tempDir();
      await eraseFrom(rig, { user }, { spool });
      const fresh = 'somebody.new@example.org';
      const event = { hook_event_name: 'Notification' };
      receive(spool, { ...event, message: `ask ${fresh}` }, '1-1');
      receive(spool, { ...event, user_id: user, user_email: fresh }, '1-2');
      await drainHooks({ ...rig.settings, spool }, contextOf(today));
      receive(spool, { ...event, message: `mail ${fresh}` }, '1-3');
      await rig.run({ settings: { spool } });
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(3);
      expect(await placesOf([user, fresh], { place: rig.place, archive: rig.folder, spool })).toEqual([]);
    });

    const policies: readonly EmailPolicy[] = [
      { mode: 'hash', salt: 'a long enough salt for the tests' },
      { mode: 'drop' },
    ];
    testVariants([{ mode: 'keep' }, ...policies] as const)(
      'from files that a drain has left, which name an address that was never stored: $mode',
      { tags: 'ci/rare' },
      async (emails) => {
        const rig = await archivedRig(SMALL, database, { emails });
        await rig.run();
        const user = (await rig.value<string>('SELECT min(user_id) FROM user_daily')) ?? '';
        const spool = tempDir();
        const fresh = 'somebody.new@example.org';
        const alone = `{"v":9,"text":"by <${fresh.toUpperCase()}>"}\n`;
        writeFileSync(join(spool, 'sealed-old.jsonl.kept'), alone);
        writeFileSync(
          join(spool, 'sealed-one.jsonl.kept'),
          `{"v":9,"user_id":"${user}","email":"${fresh}"}\n${alone}`,
        );
        const counted = await eraseFrom(rig, { user, isDryRun: true }, { spool, emails });
        const { certificate } = await eraseFrom(rig, { user }, { spool, emails });
        expect(certificate.spool_lines).toBe(3);
        expect(counted.certificate.spool_lines).toBe(3);
        expect(await placesOf([user, fresh], { place: rig.place, archive: rig.folder, spool })).toEqual([]);
      },
    );

    testVariants(policies)('with emails that are not kept: $mode', { tags: 'ci/rare' }, async (emails) => {
      const rig = await archivedRig(SMALL, database, { emails });
      rig.emulator.setQuirks({ unknownFields: true });
      await rig.run();
      const [row] = await rig.sql<{ user: string; email: string | null }>(
        'SELECT user_id AS "user", max(user_email) AS email FROM user_daily GROUP BY user_id ORDER BY user_id LIMIT 1',
      );
      const values = [row?.user ?? '', ...(row?.email == null ? [] : [row.email])];
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      expect((await placesOf(values, searched)).length).toBeGreaterThan(2);
      await eraseFrom(rig, { user: values[0] }, { emails });
      expect(await placesOf(values, searched)).toEqual([]);
      const digest = await rig.digest();
      expect((await rig.run(everything)).report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
      expect(await rig.digest()).toBe(digest);
      expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
      expect(await placesOf(values, searched)).toEqual([]);
    });
  });
});
