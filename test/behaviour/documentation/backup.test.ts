// @module-tag ci/upkeep

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { commandsOf, runCommands } from '../../support/documentation/shell-commands.ts';
import { somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { type Database, needsSessions, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const PAGE = 'docs/backup.md';

/** An installation as the page describes it: a backup, then a load of people, a run and an erasure. */
async function installation(database: Database) {
  const folder = tempDir();
  const { emulator } = await createRig({ today: parseDay('2026-01-26'), users: 9, reports: 3 });
  for (const place of ['var/lib/daywalk', 'mnt/backup', 'mnt/other-disk'])
    mkdirSync(join(folder, place), { recursive: true });
  const file = join(folder, 'var/lib/daywalk/daywalk.db');
  const place = database === sqlite ? sqlitePlace(file) : database.place();
  const rig = rigOver(emulator, place, parseDay('2026-01-26'));
  const perform = async (script: string, day: string) => {
    const places = `${commandsOf(PAGE, '## Three drills').split('daywalk restore')[0] ?? ''}\n${script}`;
    const local = places.replaceAll(/(?<=[= "(]|ls )\/(var\/lib|mnt)\//g, `${folder}/$1/`);
    expect(local).toContain(`DAYWALK_WAREHOUSE=${file}\n`);
    return runCommands(local.replace(`=${file}\n`, `='${place.location}'\n`), folder, {
      DAYWALK_API_KEY: emulator.apiKey,
      DAYWALK_BASE_URL: emulator.url,
      DAYWALK_NOW: `2026-01-${day}T03:00:00Z`,
      DAYWALK_LOG: 'silent',
    });
  };
  const succeed = async (script: string, day: string) => {
    const { code, output } = await perform(script, day);
    expect(code, output).toBe(0);
    return output;
  };
  await succeed('daywalk run; daywalk backup /mnt/backup/daywalk/ --with-archive', '22');
  const person = await somebody(rig);
  writeFileSync(join(folder, 'people.csv'), `user_id,team\n${person.user},Red\nother,Blue\n`);
  await succeed(`daywalk people load people.csv; daywalk run; daywalk erase --user ${person.user}`, '23');
  const drill = (heading: string) => commandsOf(PAGE, heading);
  const expectRestored = async (digest: string) => {
    expect(await rig.digest()).toBe(digest);
    const archive = join(folder, 'var/lib/daywalk/archive.db');
    expect(await placesOf([person.user, person.email], { place, archive, spool: '' })).toEqual([]);
    // This is what the page says is lost.
    expect(await rig.value('SELECT COUNT(*) FROM people')).toBe(0);
  };
  return { folder, rig, place, succeed, perform, drill, expectRestored };
}

describe('the drills of docs/backup.md, performed as they stand there:', () => {
  onEachDatabase((database) => {
    beforeEach(() => needsSessions(database));

    test('a lost volume', async () => {
      const { folder, rig, place, succeed, drill, expectRestored } = await installation(database);
      const digest = await rig.digest();
      rmSync(join(folder, 'var/lib/daywalk'), { recursive: true });
      mkdirSync(join(folder, 'var/lib/daywalk'));
      if (database !== sqlite) await clear(place);
      const commands = drill('### A lost volume');
      expect(commands).toContain('--with-archive');
      await succeed(commands, '23');
      await expectRestored(digest);
    });

    test('a wrong command', async () => {
      const { rig, succeed, drill, expectRestored } = await installation(database);
      const digest = await rig.digest();
      await succeed('daywalk privacy apply --emails drop --yes', '23');
      expect(await rig.value('SELECT COUNT(user_email) FROM user_daily')).toBe(0);
      const output = await succeed(drill('### A wrong command'), '23');
      expect(output).toContain('the backup can be restored');
      await expectRestored(digest);
    });
  });

  test('a corrupted file', async () => {
    const { folder, rig, succeed, perform, drill, expectRestored } = await installation(sqlite);
    const digest = await rig.digest();
    const file = join(folder, 'var/lib/daywalk/daywalk.db');
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 4_096, Math.floor(bytes.length / 2));
    writeFileSync(file, bytes);
    expect((await perform('daywalk verify', '23')).code).toBe(6);
    await succeed(drill('### A corrupted file'), '23');
    await expectRestored(digest);
  });
});
