// @module-tag database-specific

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { drainHooks } from '../../../jobs/drain.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { copy, onEachCopyable } from '../../support/copy/run-copy.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { contextOf, createRig, type Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import type { Database } from '../../support/warehouse/each-database.ts';

/** A warehouse with a person in rows of days, people, budgets and hook events, a copy of it, and an erasure since. */
async function erasedSinceCopy(database: Database) {
  const rig = await createRig({ users: 12, reports: 2 }, { database });
  await rig.run();
  const person = await somebody(rig);
  await load(rig, 'people', `user_id,user_email,name,team\n${person.user},${person.email},Zorro,Red\n`);
  await load(rig, 'budget', `month,team,amount,currency\n2026-02,${person.email},5,USD\n`);
  const spool = join(tempDir(), 'spool');
  mkdirSync(spool);
  for (let number = 0; number < 60; number += 1) {
    const event = { hook_event_name: 'Notification', message: `${person.user} or ${person.email} ${number}` };
    const line = {
      receivedAt: '2026-01-30T02:00:00.000Z',
      order: `1-${number}`,
      text: JSON.stringify(event),
    };
    appendFileSync(join(spool, 'events.jsonl'), encodeRecord(line));
  }
  await drainHooks({ ...rig.settings, spool }, contextOf(rig.today));
  const place = database.place();
  expect((await copy(rig.path, place.location)).report.exitCode).toBe(0);
  await eraseFrom(rig, { user: person.user });
  return { rig, place, ...person };
}

async function load(rig: Rig, what: string, text: string): Promise<void> {
  const folder = tempDir();
  writeFileSync(join(folder, 'file.csv'), text);
  const env = { DAYWALK_WAREHOUSE: rig.path };
  const loaded = await daywalkInProcess([what, 'load', 'file.csv'], { env, cwd: folder });
  expect(loaded.code, loaded.stderr).toBe(0);
}

const nowhere = { archive: '', spool: '' };

onEachCopyable((database) => {
  describe('a repeated copy after an erasure', () => {
    test('goes on, and no byte of the destination holds the person', { tags: 'ci/variant' }, async () => {
      const { rig, place, user, email } = await erasedSinceCopy(database);
      const { report } = await copy(rig.path, place.location);
      expect(report).toMatchObject({ exitCode: 0, digest: { to: await rig.digest() } });
      expect(await placesOf([user, email, 'Zorro'], { place, ...nowhere })).toEqual([]);
      expect(await place.query("SELECT name FROM export_state WHERE name = 'forgetting'")).toEqual([]);
    });

    test('is still refused for a row that only the destination has', { tags: 'ci/variant' }, async () => {
      const { rig, place } = await erasedSinceCopy(database);
      await place.execute("UPDATE people SET person = 'somebody else'");
      await expect(copy(rig.path, place.location)).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('1 row of people'),
      });
      expect(await place.query("SELECT name FROM export_state WHERE name = 'forgetting'")).toEqual([]);
    });

    test('forgets the person after a kill too', { tags: 'ci/variant' }, async () => {
      const { rig, place, user, email } = await erasedSinceCopy(database);
      const controller = new AbortController();
      // The last table is moved, and nothing is forgotten yet.
      const stopped = copy(rig.path, place.location, {
        signal: controller.signal,
        onEvent: ({ type }) => {
          if (type === 'copy-comparing') controller.abort(new Error('killed'));
        },
      });
      await expect(stopped).rejects.toThrow('killed');
      expect((await copy(rig.path, place.location)).report.exitCode).toBe(0);
      expect(await placesOf([user, email, 'Zorro'], { place, ...nowhere })).toEqual([]);
    });

    test('removes an organization that was erased', { tags: 'ci/variant' }, async () => {
      const { rig, place, user, email } = await erasedSinceCopy(database);
      const orgId = await rig.value<string>('SELECT min(org_id) FROM export_units');
      await eraseFrom(rig, { organization: orgId ?? '' });
      expect((await copy(rig.path, place.location)).report.exitCode).toBe(0);
      const [left] = await place.query<{ left: number }>(
        'SELECT count(*) AS "left" FROM user_daily UNION ALL SELECT count(*) FROM people',
      );
      expect(Number(left?.left)).toBe(0);
      expect(await placesOf([user, email, 'Zorro'], { place, ...nowhere })).toEqual([]);
    });
  });

  if (database.name === 'SQLite')
    test('a copy ends with code 75 while a reader keeps the log of the destination, and is then repeated', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, place, user } = await erasedSinceCopy(database);
      const reader = new Sqlite(place.location);
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM people').get();
      await expect(copy(rig.path, place.location)).rejects.toMatchObject({ exitCode: 75 });
      expect(await placesOf([user], { place, ...nowhere })).not.toEqual([]);
      reader.close();
      expect((await copy(rig.path, place.location)).report.exitCode).toBe(0);
      expect(await placesOf([user], { place, ...nowhere })).toEqual([]);
    });
});
