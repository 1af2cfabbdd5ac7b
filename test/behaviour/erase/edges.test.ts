import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drainHooks } from '../../../jobs/drain.ts';
import { showPerson } from '../../../jobs/privacy.ts';
import { publish } from '../../../jobs/publish.ts';
import { tables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { drainSpool } from '../../../src/hooks/drain-spool.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import { readState } from '../../../src/records/remembered.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { type Database, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-30');

async function exported(database: Database) {
  const rig = await archivedRig({ today, users: 6, reports: 2 }, database);
  await rig.run();
  const person = await somebody(rig);
  const spool = join(tempDir(), 'spool');
  mkdirSync(spool);
  const found = () => placesOf([person.user, person.email], { place: rig.place, archive: rig.folder, spool });
  return { rig, spool, found, ...person };
}

function receive(spool: string, event: object): void {
  const line = { receivedAt: '2026-01-30T02:00:00.000Z', order: '1-1', text: JSON.stringify(event) };
  appendFileSync(join(spool, 'events.jsonl'), encodeRecord(line));
}

onEachDatabase((database) => {
  describe('an erasure', () => {
    testVariants(['user', 'email'] as const)(
      'and an answer about what is held find somebody of whom every record is in quarantine, by the %s',
      { tags: 'ci/rare' },
      async (by) => {
        const rig = await archivedRig({ today, users: 12, reports: 2 }, database);
        const service = await rewritingService(rig.emulator.url);
        const user = 'user_01QUARANTINE';
        const email = 'quin@example.com';
        service.rewrite((text) => {
          const answer: { data?: { user_id?: string }[] } = JSON.parse(text);
          const [row] = (answer.data ?? []).filter((each) => each.user_id !== undefined);
          if (row === undefined) return text;
          answer.data?.push({ ...row, ...{ user_id: user, user_email: email, messages: -1 } });
          return JSON.stringify(answer);
        });
        await rig.run({ settings: { baseUrl: service.url, appUrl: service.url } });
        const found = () => placesOf([user, email], { place: rig.place, archive: rig.folder, spool: '' });
        expect(await found()).not.toEqual([]);
        expect(await rig.column(`SELECT user_id FROM user_daily WHERE user_id = '${user}'`)).toEqual([]);
        const named = by === 'user' ? { user } : { email };
        const shown = await showPerson(rig.settings, named, contextOf(today));
        expect(shown).toMatchObject({ state: 'known', places: { quarantine: expect.any(Number) } });
        const { certificate } = await eraseFrom(rig, named);
        expect(certificate.rows).toMatchObject({ quarantine: expect.any(Number) });
        expect(await found()).toEqual([]);
        await rig.run({ settings: { baseUrl: service.url, appUrl: service.url }, force: true });
        expect(await found()).toEqual([]);
      },
    );

    test('while users of a day are doubted to have gone lets nobody else go in their place', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig({ today, users: 40, reports: 2 }, database);
      const day = parseDay('2026-01-21');
      const service = await rewritingService(rig.emulator.url);
      const settings = { baseUrl: service.url, appUrl: service.url };
      const run = (now: string) => rig.run({ now: parseDay(now), settings });
      const stored = () =>
        rig.column<string>(`SELECT user_id FROM user_daily WHERE date = '${day}' ORDER BY user_id`);
      /** Answers lack some users of the day. */
      const lack = (users: readonly string[]) =>
        service.rewrite((text) => {
          const answer: { data?: { date?: string; user_id?: string }[] } = JSON.parse(text);
          const isGone = (row: { date?: string; user_id?: string }) =>
            row.date === day && users.includes(row.user_id ?? '');
          if (!Array.isArray(answer.data)) return text;
          return JSON.stringify({ ...answer, data: answer.data.filter((row) => !isGone(row)) });
        });
      await run('2026-01-22');
      const users = await stored();
      expect(users.length).toBeGreaterThan(6);
      lack(users.slice(2, 5));
      for (const now of ['2026-01-23', '2026-01-24', '2026-01-25'])
        expect((await run(now)).report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      // A pseudonym comes before all other IDs, so everybody before the person is one place further on.
      await eraseFrom(rig, { user: users.at(-1) ?? '' });
      lack(users.slice(1, 4));
      expect((await run('2026-01-26')).report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      expect(await stored()).toEqual([expect.stringContaining('erased-'), ...users.slice(0, -1)]);
      // What is doubted from then on is accepted in its time.
      for (const now of ['2026-01-27', '2026-01-28']) await run(now);
      expect((await run('2026-01-29')).report).toMatchObject({ exitCode: 0 });
      expect(await stored()).not.toContain(users[1]);
    });

    test('between the reading of the list and the storing of events keeps the person out', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, spool, found, user, email } = await exported(database);
      receive(spool, { hook_event_name: 'Notification', message: `ask ${user} or ${email}` });
      const settings = { ...rig.settings, spool };
      const warehouse = await open(rig.place);
      let transactions = 0;
      const late: typeof warehouse = {
        ...warehouse,
        transact: async (...call) => {
          transactions += 1;
          // The first transaction only assigns the organization to earlier events.
          if (transactions === 2) await eraseFrom(rig, { user }, { spool: join(spool, 'none') });
          return warehouse.transact(...call);
        },
      };
      const drained = drainSpool(late, settings, new AbortController().signal);
      await expect(drained).rejects.toMatchObject({ exitCode: 75 });
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(0);
      await drainHooks(settings, contextOf(today));
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(1);
      expect(await found()).toEqual([]);
    });

    test('reaches a new address that stands alone in other rows of the run that finds it', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, user, email, found } = await exported(database);
      await eraseFrom(rig, { user });
      const service = await rewritingService(rig.emulator.url);
      const settings = { baseUrl: service.url, appUrl: service.url };
      const foundNew = (address: string) =>
        placesOf([address, user, email], { place: rig.place, archive: rig.folder, spool: '' });
      const everything = { command: 'backfill', force: true, settings };
      for (const fresh of ['somebody.new@example.org', 'somebody.newer@example.org']) {
        service.rewrite((text) =>
          text.replaceAll(email, fresh).replaceAll('"tool":"', `"note":"ask ${fresh}","tool":"`),
        );
        if (fresh.includes('newer')) {
          // The archive of an earlier run is not there, so this run cannot end the sweep; the next one does.
          await rig.place.execute("DELETE FROM export_state WHERE name = 'archives'");
          const value = JSON.stringify([rig.folder, join(rig.folder, 'not-mounted')]);
          await rig.place.execute("INSERT INTO export_state VALUES ('', 'archives', ?)", value);
          const { events, report } = await rig.run(everything);
          expect(report).toMatchObject({ exitCode: 0 });
          expect(events).toContainEqual(
            expect.objectContaining({ message: expect.stringContaining('not swept yet') }),
          );
          expect(await foundNew(fresh)).not.toEqual([]);
          await rig.place.execute("DELETE FROM export_state WHERE name = 'archives'");
          service.rewrite((text) => text);
          await rig.run();
        } else expect((await rig.run(everything)).report).toMatchObject({ exitCode: 0 });
        expect(await foundNew(fresh)).toEqual([]);
      }
      expect(await found()).toEqual([]);
      expect(await rig.value("SELECT count(*) FROM export_state WHERE name = 'erased-addresses'")).toBe(0);
      expect(await rig.value('SELECT count(*) FROM erased WHERE certificate IS NULL')).toBe(0);
    });

    test('warns before it replaces an address that others have too', { tags: 'ci/rare' }, async () => {
      const { rig, user, email } = await exported(database);
      await rig.place.execute('UPDATE user_daily SET user_email = ?', email);
      const others = await rig.value('SELECT count(DISTINCT user_id) - 1 FROM user_daily');
      const env = {
        ...{ DAYWALK_WAREHOUSE: rig.path, DAYWALK_ARCHIVE: rig.folder },
        DAYWALK_NOW: `${today}T04:00:00Z`,
      };
      for (const flags of [['--dry-run'], []]) {
        const { code, stderr } = await daywalkInProcess(['erase', '--user', user, ...flags], { env });
        expect(code, stderr).toBe(0);
        expect(stderr).toContain(`an address of this person: ${others};`);
        expect(stderr).not.toContain(email);
      }
    });

    test('reaches received addresses that a spool has kept, also if the warehouse has hashes', {
      tags: 'ci/rare',
    }, async () => {
      const emails = { mode: 'hash', salt: 'a long enough salt for the tests' } as const;
      const rig = await archivedRig({ today, users: 6, reports: 2 }, database, { emails });
      await rig.run();
      const { user } = await somebody(rig);
      const plain = await archivedRig({ today, users: 6, reports: 2 }, database);
      await plain.run();
      const email =
        (await plain.value<string>('SELECT max(user_email) FROM user_daily WHERE user_id = ?', user)) ?? '';
      expect(email).toContain('@');
      const spool = tempDir();
      const kept = join(spool, 'sealed-old.jsonl.kept');
      const lines = [
        `{"v":9,"who":"${email}"}`,
        `{"v":9,"text":"by <${email}>"}`,
        `torn ${email.toUpperCase()}`,
      ];
      writeFileSync(kept, `${lines.join('\n')}\n`);
      await eraseFrom(rig, { user }, { spool, emails });
      const text = readFileSync(kept, 'utf8').toLowerCase();
      expect(text).not.toContain(email.toLowerCase());
      expect(text.match(/erased-/g)).toHaveLength(3);
    });

    test('that is repeated stores what the client tool of the person has sent since, without the person', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user, email, spool, found } = await exported(database);
      await eraseFrom(rig, { user }, { spool });
      receive(spool, { hook_event_name: 'Notification', message: `ask ${user} or ${email}` });
      expect(await found()).not.toEqual([]);
      expect(await eraseFrom(rig, { user }, { spool })).toMatchObject({ isRepeated: true });
      expect(await found()).toEqual([]);
      expect(await rig.value('SELECT count(*) FROM hook_events')).toBe(1);
    });

    test('that was interrupted is in the status, without the person', { tags: 'ci/rare' }, async () => {
      const { rig, user } = await exported(database);
      const orgId = (await rig.value<string>('SELECT min(org_id) FROM export_units')) ?? '';
      const plan = { at: '2026-01-29T05:00:00.000Z', subjects: [{ kind: 'user', value: user }] };
      const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: `${today}T04:00:00Z` };
      const status = async (...flags: string[]) =>
        (await daywalkInProcess(['status', ...flags], { env })).stdout;
      expect(await status()).not.toContain('erasure');
      const row = [orgId, JSON.stringify(plan)];
      await rig.place.execute("INSERT INTO export_state VALUES (?, 'erasure', ?)", ...row);
      expect(await status()).toContain('repeat daywalk erase');
      const json = await status('--json');
      expect(JSON.parse(json)).toMatchObject({ pendingErasures: [{ orgId, beganAt: plan.at }] });
      expect(json + (await status())).not.toContain(user);
    });

    test('names the places to which the warehouse was published, wherever it is', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user } = await exported(database);
      const directory = join(tempDir(), 'lake');
      await publish(
        rig.settings,
        { parquet: { directory, tables: [tables.userDaily], force: false } },
        contextOf(today),
      );
      const { certificate } = await eraseFrom(rig, { user });
      expect(certificate.published).toEqual([directory]);
    });

    test('replaces the person in a file of budgets too', { tags: 'ci/rare' }, async () => {
      const { rig, user, found } = await exported(database);
      await eraseFrom(rig, { user });
      const folder = tempDir();
      const lines = ['month,team,amount,currency', `2026-01,team of ${user},10,EUR`];
      writeFileSync(join(folder, 'budgets.csv'), `${lines.join('\n')}\n`);
      const env = { DAYWALK_WAREHOUSE: rig.path };
      const load = () => daywalkInProcess(['budget', 'load', 'budgets.csv'], { env, cwd: folder });
      expect((await load()).code).toBe(0);
      expect(await rig.value('SELECT count(*) FROM budgets')).toBe(1);
      expect(await found()).toEqual([]);
    });

    test('of an organization that is named by its recorded name is completed under that name', {
      tags: 'ci/rare',
    }, async () => {
      const { rig } = await exported(database);
      const orgId = (await rig.value<string>('SELECT min(org_id) FROM export_units')) ?? '';
      const row = ['acme', orgId, '2026-01-29T05:00:00.000Z'];
      await rig.place.execute('INSERT INTO organizations VALUES (?, ?, ?)', ...row);
      const warehouse = await open(rig.place);
      const stopped = AbortSignal.abort(new Error('stopped'));
      await expect(eraseFrom(rig, { organization: 'acme' }, {}, stopped)).rejects.toThrow('stopped');
      expect(await readState(warehouse, orgId, 'erasure')).not.toBeNull();
      await rig.place.execute('DELETE FROM organizations');
      const { certificate } = await eraseFrom(rig, { organization: 'acme' });
      expect(certificate).toMatchObject({ kind: 'organization', org_id: orgId });
      expect(await readState(warehouse, orgId, 'erasure')).toBeNull();
      await expect(eraseFrom(rig, { organization: 'other' })).rejects.toMatchObject({ exitCode: 2 });
    });

    test('leaves the looks of each rewritten unit, which name its new content', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, user } = await exported(database);
      const lastLooks = async () => {
        const units = await rig.sql<{ unit: string; content: string; watch: string }>(
          `SELECT stream || ' ' || date AS unit, content_sha256 AS content, CAST(watch AS text) AS watch FROM export_units WHERE CAST(watch AS text) LIKE '%"looks"%'`,
        );
        return new Map(
          units.map(({ unit, content, watch }) => [
            unit,
            { content, seen: parseNotes(watch).looks?.at(-1)?.[1] ?? '' },
          ]),
        );
      };
      const before = await lastLooks();
      await eraseFrom(rig, { user });
      const after = await lastLooks();
      expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
      const rewritten = [...after].filter(([unit, { content }]) => before.get(unit)?.content !== content);
      expect(rewritten).not.toEqual([]);
      for (const [unit, { content, seen }] of after) {
        expect(seen, unit).not.toBe('');
        expect(content.startsWith(seen), unit).toBe(true);
      }
    });
  });
});
