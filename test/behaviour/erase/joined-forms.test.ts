import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

/** A warehouse, an archive and a spool with joined forms of a person, and the command line for it. */
async function joined(database: Database) {
  const rig = await archivedRig({ users: 8, reports: 2, today: '2026-01-31' }, database);
  await rig.run();
  const { user, email } = await somebody(rig);
  const service = await rewritingService(rig.emulator.url);
  const settings = { baseUrl: service.url, appUrl: service.url };
  service.rewrite((text) =>
    text
      .replaceAll(/"command":"[^"]*"/g, `"command":"cat /srv/home-${user}/x /srv/${user}-2"`)
      .replaceAll('"name":"code-review"', `"name":"mcp-${email}"`),
  );
  await rig.run({ settings, force: true });
  const [folder, spool] = [tempDir(), join(tempDir(), 'spool')];
  const env = {
    ...{ DAYWALK_WAREHOUSE: rig.path, DAYWALK_ARCHIVE: rig.folder, DAYWALK_SPOOL: spool },
    DAYWALK_NOW: `${rig.today}T04:00:00Z`,
  };
  const daywalk = (...args: string[]) => daywalkInProcess(args, { env, cwd: folder });
  writeFileSync(
    join(folder, 'people.csv'),
    `user_id,user_email,team,cost_center\n${user},${email},Red,cc-${user.toUpperCase()}\n`,
  );
  const loaded = await daywalk('people', 'load', 'people.csv');
  expect(loaded.code, loaded.stderr).toBe(0);
  mkdirSync(spool);
  const encoded = Buffer.from(`ask:${user}:now`).toString('base64');
  const message = `open /x?to=mcp-${email.replace('@', '%40')}& ${encoded}`;
  const text = JSON.stringify({ hook_event_name: 'Notification', message });
  appendFileSync(
    join(spool, 'events.jsonl'),
    encodeRecord({ receivedAt: '2026-01-30T02:00:00.000Z', order: '1-1', text }),
  );
  const erase = async (...args: string[]) => {
    const { code, stdout, stderr } = await daywalk('erase', '--json', ...args);
    expect([0, 5], stderr).toContain(code);
    const { certificate } = JSON.parse(stdout) as {
      certificate: { joined: { found: { place: string; outcome: string }[] }; pseudonyms: string[] };
    };
    const found = certificate.joined.found;
    return { code, text: stdout, found, places: [...new Set(found.map(({ place }) => place))].sort() };
  };
  const searched = { place: rig.place, archive: rig.folder, spool };
  const forms = [user, email, encoded, email.replace('@', '%40')];
  return { rig, settings, user, email, erase, searched, forms };
}

const PLACES = [
  'archive',
  'hook_events.message',
  'hook_events.payload',
  'people.cost_center',
  'tools_daily_by_hook.command',
  'tools_daily_by_skill.name',
];

onEachDatabase((database) => {
  describe('the ID and the addresses of an erased person, joined with other characters', () => {
    test('are named by place and count, with code 5, until they are replaced; then they do not come back', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, settings, user, email, erase, searched, forms } = await joined(database);
      const first = await erase('--user', user);
      expect(first.places).toEqual(PLACES);
      expect(first.code).toBe(5);
      expect(first.found.every(({ outcome }) => outcome === 'left')).toBe(true);
      for (const form of forms) expect(first.text.toLowerCase()).not.toContain(form.toLowerCase());
      expect((await erase('--user', user)).code).toBe(5);
      // The ID alone is known, so those of the address stay open.
      const byId = await erase('--user', user, '--joined');
      expect(byId.code).toBe(5);
      expect(byId.found.filter(({ outcome }) => outcome === 'left').map(({ place }) => place)).toContain(
        'tools_daily_by_skill.name',
      );
      expect((await erase('--email', email, '--joined')).code).toBe(0);
      expect((await erase('--user', user)).code).toBe(0);
      expect(await placesOf(forms, searched)).toEqual([]);
      await rig.run({ settings, force: true });
      expect(await rig.value("SELECT count(*) FROM tools_daily_by_hook WHERE command LIKE '%home-%'")).toBe(
        0,
      );
      expect(await rig.value("SELECT count(*) FROM tools_daily_by_skill WHERE name LIKE 'mcp-%'")).toBe(0);
    });

    test('are accepted on request', { tags: 'ci/variant' }, async () => {
      const { user, erase } = await joined(database);
      const { code, places, found } = await erase('--user', user, '--leave-joined');
      expect([code, places]).toEqual([0, PLACES]);
      expect(found.every(({ outcome }) => outcome === 'accepted')).toBe(true);
      expect((await erase('--user', user)).code).toBe(0);
      expect((await erase('--user', user, '--joined')).found.map(({ outcome }) => outcome)).toContain(
        'replaced',
      );
    });
  });
});
