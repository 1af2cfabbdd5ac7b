import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import type { Settings } from '../../../src/settings/index.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

interface Exported {
  readonly user_ids: readonly string[];
  readonly emails: readonly string[];
  readonly first_day: string;
  readonly records: readonly {
    readonly place: string;
    readonly came_at: string | null;
    readonly record: unknown;
  }[];
}

const SALT = 'a salt of 32 characters, or a few more';

/** A warehouse with two people in the same records, and the command line for it. */
async function held(database: Database, emails: Settings['emails'] = { mode: 'keep' }) {
  const rig = await archivedRig({ users: 6, reports: 2 }, database, { emails });
  const service = await rewritingService(rig.emulator.url);
  const seen = new Map<string, string>();
  service.rewrite((text) => {
    for (const [, id = '', email = ''] of text.matchAll(/"user_id":"([^"]+)","user_email":"([^"]+)"/g))
      seen.set(id, email);
    // A record in quarantine that names two people.
    const [[, other] = ['', '']] = [...seen].slice(1);
    return text.replace('"messages":7', `"messages":"seven, as ${other}"`);
  });
  const settings = { baseUrl: service.url, appUrl: service.url, emails };
  await rig.run({ settings });
  const [[user, email], [otherUser, otherEmail]] = [...seen] as [[string, string], [string, string]];
  const [folder, spool] = [tempDir(), join(tempDir(), 'spool')];
  const env = {
    ...{ DAYWALK_WAREHOUSE: rig.path, DAYWALK_ARCHIVE: rig.folder, DAYWALK_SPOOL: spool },
    DAYWALK_NOW: `${rig.today}T04:00:00Z`,
    DAYWALK_EMAILS: emails.mode,
    ...(emails.mode === 'hash' && { DAYWALK_EMAIL_SALT: emails.salt }),
    ...(emails.mode !== 'keep' && emails.users !== undefined && { DAYWALK_USERS: emails.users }),
  };
  const daywalk = (...args: string[]) => daywalkInProcess(args, { env, cwd: folder });
  writeFileSync(
    join(folder, 'people.csv'),
    `user_id,name,team,manager_email\n${user},Zorro,Red,${otherEmail}\n${otherUser},Batman,Red,${email}\n`,
  );
  const loaded = await daywalk('people', 'load', 'people.csv');
  expect(loaded.code, loaded.stderr).toBe(0);
  mkdirSync(spool);
  const message = `${user} asks ${otherUser}, ${otherEmail} and stranger@example.org`;
  const text = JSON.stringify({ hook_event_name: 'Notification', message });
  const line = encodeRecord({ receivedAt: '2026-01-30T02:00:00.000Z', order: '1-1', text });
  appendFileSync(join(spool, 'events.jsonl'), line);
  const exported = async (...whom: string[]) => {
    const out = join(folder, `person${Math.random()}.json`);
    const { code, stderr } = await daywalk('person', 'export', ...whom, '--out', out);
    expect(code, stderr).toBe(0);
    return { out, text: readFileSync(out, 'utf8'), file: JSON.parse(readFileSync(out, 'utf8')) as Exported };
  };
  return { rig, env, daywalk, exported, folder, user, email, otherUser, otherEmail };
}

onEachDatabase((database) => {
  describe('what is held about a person', () => {
    test('is counted by place, and exported with its place and time, without other people', async () => {
      const { rig, daywalk, exported, user, email, otherUser, otherEmail } = await held(database);
      const shown = await daywalk('person', 'show', '--user', user, '--json');
      expect(shown.code, shown.stderr).toBe(0);
      const { places, first_day: firstDay } = JSON.parse(shown.stdout) as {
        places: Record<string, number>;
        first_day: string;
      };
      const rows = await rig.value('SELECT count(*) FROM user_daily WHERE user_id = ?', user);
      expect(places['user_daily']).toBe(Number(rows));
      expect(firstDay).toBe(
        await rig.value('SELECT CAST(min(date) AS text) FROM tokens_daily_by_user WHERE user_id = ?', user),
      );
      expect(places).toMatchObject({ people: 2, spool: 1, users: 1 });
      expect(places['archive']).toBeGreaterThan(0);
      const { out, text, file } = await exported('--email', email);
      expect(statSync(out).mode & 0o777).toBe(0o600);
      expect(file).toMatchObject({ user_ids: [user], emails: [email], first_day: firstDay });
      const counted: Record<string, number> = {};
      for (const { place } of file.records) counted[place] = (counted[place] ?? 0) + 1;
      expect(counted).toEqual(places);
      for (const { place, came_at: at } of file.records)
        if (['user_daily', 'archive', 'spool', 'quarantine'].includes(place))
          expect(at, place).toMatch(/^2026-.*Z$/);
      expect(text).toContain('Zorro');
      for (const masked of [otherUser, otherEmail, 'Batman', 'stranger@example.org'])
        expect(text.toLowerCase()).not.toContain(masked.toLowerCase());
      const again = await daywalk('person', 'export', '--user', user, '--out', out);
      expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')]);
    });

    test('is found by the address where that is hashed', { tags: 'ci/variant' }, async () => {
      const { exported, user, email, otherEmail } = await held(database, { mode: 'hash', salt: SALT });
      const { text, file } = await exported('--email', email);
      expect(file.user_ids).toEqual([user]);
      expect(text).not.toContain(otherEmail);
    });

    test('is not looked up under another policy than it is stored under, where nothing would be found', {
      tags: 'ci/rare',
    }, async () => {
      const pseudonym = { mode: 'hash', salt: SALT, users: 'pseudonym' } as const;
      const { rig, env, email, user } = await held(database, pseudonym);
      const keeps = { ...env, DAYWALK_EMAILS: 'keep', DAYWALK_USERS: 'keep' };
      for (const [setting, whom] of [
        ['DAYWALK_EMAILS=hash', ['--email', email]],
        ['DAYWALK_USERS=pseudonym', ['--user', user]],
      ] as const)
        for (const command of [['person', 'show'], ['erase']]) {
          const { code, stderr } = await daywalkInProcess([...command, ...whom], { env: keeps });
          expect([code, stderr]).toEqual([2, expect.stringContaining(`set ${setting}`)]);
        }
      // As it is stored, it is found under any policy.
      const stored = await rig.value('SELECT MIN(user_id) FROM user_daily');
      const shown = await daywalkInProcess(['person', 'show', '--user', String(stored)], { env: keeps });
      expect(shown.code, shown.stderr).toBe(0);
    });

    test('is nothing for somebody unknown, and the day of the erasure for somebody erased', {
      tags: 'ci/variant',
    }, async () => {
      const { daywalk, folder, user, email } = await held(database);
      for (const whom of [['--user', 'user_nobody'], ['--email', 'nobody@example.com'], []])
        expect((await daywalk('person', 'show', ...whom)).code).toBe(2);
      expect((await daywalk('erase', '--user', user, '--leave-joined')).code).toBe(0);
      for (const whom of [
        ['--user', user],
        ['--email', email],
      ]) {
        const { code, stdout } = await daywalk('person', 'show', ...whom);
        expect([code, stdout]).toEqual([0, expect.stringMatching(/was erased on 2026-/)]);
        const file = join(folder, 'erased.json');
        expect((await daywalk('person', 'export', ...whom, '--out', file)).code).toBe(0);
        expect(existsSync(file)).toBe(false);
      }
    });
  });
});
