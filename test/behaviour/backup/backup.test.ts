// @module-tag database-specific

import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { checkBackup } from '../../../src/backup/backup-file.ts';
import { parseDay } from '../../../src/core/day.ts';
import { newIdentity, readIdentity } from '../../../src/identity/index.ts';
import { DEFAULT_SETTINGS } from '../../../src/settings/settings.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { backUpTo, warnings } from '../../support/backup/run-backup.ts';
import { fullWarehouse } from '../../support/copy/full-warehouse.ts';
import { contentOf, copy } from '../../support/copy/run-copy.ts';
import { TODAY } from '../../support/rig/rig.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { type Database, needsSessions, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { query } from '../../support/warehouse/open-temporary.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const installed = (warehouse: string, today = TODAY) => ({
  settings: { ...DEFAULT_SETTINGS, warehouse },
  today,
});

/** A warehouse with a day. */
async function small(database: Database) {
  const warehouse = await open(database);
  await commitDay(warehouse, commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }));
  return warehouse;
}

onEachDatabase((database) => {
  beforeEach(() => needsSessions(database));

  describe('a backup', () => {
    test('has every row of every table, no free page, and is readable for its owner only', {
      tags: database === sqlite ? [] : 'ci/variant',
    }, async () => {
      const full = await fullWarehouse();
      const place = await database.migrated();
      await copy(full.path, place.location);
      const file = tempFile('backup.db');
      const { warehouse } = await backUpTo(installed(place.location), file);
      expect(await contentOf(file, allTables)).toEqual(
        Object.fromEntries(
          Object.entries(await contentOf(place.location, allTables)).map(([name, rows]) => [
            name,
            // The backup is noted once it is complete.
            rows.filter(([org, state]) => name !== 'export_state' || org !== '' || state !== 'last-backup'),
          ]),
        ),
      );
      expect(warehouse).toMatchObject({ path: file, tables: allTables.length, bytes: statSync(file).size });
      expect(query(file, 'PRAGMA freelist_count')).toEqual([{ freelist_count: 0 }]);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(await checkBackup(file)).toMatchObject({ id: warehouse.id, source: expect.any(String) });
      const [noted] = await place.query<{ value: string }>(
        "SELECT value FROM export_state WHERE name = 'last-backup'",
      );
      expect(JSON.parse(noted?.value ?? '')).toEqual({ backup: warehouse.id, at: warehouse.takenAt });
      // Whoever could read the former one may not read this.
      const open = tempFile('open.db');
      await backUpTo(installed(place.location), open);
      chmodSync(open, 0o644);
      await backUpTo(installed(place.location), open);
      expect(statSync(open).mode & 0o777).toBe(0o600);
    });

    test('shows one state, whatever a run commits in the meantime', async () => {
      const warehouse = await small(database);
      const done = await warehouse.place.keepOthersFromWriting();
      const file = tempFile('backup.db');
      // The note waits for the writer; the file does not.
      const backedUp = backUpTo(installed(warehouse.location), file);
      await expect.poll(() => existsSync(file)).toBe(true);
      await done();
      await backedUp;
      expect(query(file, 'SELECT input_tokens AS n FROM tokens_daily')).toEqual([{ n: 2 }]);
    });

    test('in a folder has its instant in the name; older ones of this warehouse are removed, and nothing else', {
      tags: 'ci/variant',
    }, async () => {
      const warehouse = await small(database);
      const folder = join(tempDir(), 'new');
      const other = await small(database);
      const dates = ['2026-02-01', '2026-02-02', '2026-02-03', '2026-02-04'].map((date) => parseDay(date));
      await backUpTo(installed(other.location, parseDay('2026-01-20')), folder, { isFolder: true });
      writeFileSync(join(folder, 'daywalk-20260101T000000Z.db'), 'notes');
      copyFileSync(join(folder, 'daywalk-20260120T030000Z.db'), join(folder, 'mine.db'));
      for (const date of dates)
        await backUpTo(installed(warehouse.location, date), folder, { isFolder: true, keep: 2 });
      expect(readdirSync(folder).toSorted()).toEqual([
        '.daywalk-backup.lock',
        'daywalk-20260101T000000Z.db',
        'daywalk-20260120T030000Z.db',
        'daywalk-20260203T030000Z.db',
        'daywalk-20260204T030000Z.db',
        'mine.db',
      ]);
    });

    test('removes what a backup that was killed has left in its folder, and no other file', {
      tags: 'ci/variant',
    }, async () => {
      const warehouse = await small(database);
      const folder = tempDir();
      const killed = ['.daywalk-20260201T030000Z.db.part.db', '.daywalk-20260201T030000Z.archive.db.part.db'];
      const others = ['.mine.db.part.db', 'daywalk.part.db'];
      for (const name of [...killed, `${killed[0]}-wal`, ...others])
        writeFileSync(join(folder, name), 'rows');
      await backUpTo(installed(warehouse.location), folder, { isFolder: true });
      const left = readdirSync(folder).filter((name) => name.includes('part'));
      expect(left.toSorted()).toEqual(others);
    });

    test('replaces those from before a restore into the same place, and none of a parent that goes on', {
      tags: 'ci/variant',
    }, async () => {
      const warehouse = await small(database);
      const given = { parent: null, madeBy: 'run', at: new Date('2026-01-01T00:00:00Z') } as const;
      const parent = await newIdentity(warehouse, given);
      const folder = tempDir();
      const backUpOn = (location: string, date: string) =>
        backUpTo(installed(location, parseDay(date)), folder, { isFolder: true, keep: 2 });
      await backUpOn(warehouse.location, '2026-02-01');
      await backUpOn(warehouse.location, '2026-02-02');
      const elsewhere = await small(database);
      await newIdentity(elsewhere, { parent, madeBy: 'copy', at: given.at });
      await backUpOn(elsewhere.location, '2026-02-03');
      const dated = () => readdirSync(folder).flatMap((name) => /^daywalk-\d{6}(\d\d)/.exec(name)?.[1] ?? []);
      expect(dated()).toEqual(['01', '02', '03']);
      await newIdentity(warehouse, { parent, madeBy: 'restore', at: given.at });
      await backUpOn(warehouse.location, '2026-02-04');
      expect(dated()).toEqual(['02', '03', '04']);
      // As if the parent had a backup taken in another place of the same name.
      const child = await readIdentity(warehouse);
      await warehouse.place.execute(`UPDATE identity SET warehouse_id = '${parent.id}'`);
      await backUpOn(warehouse.location, '2026-02-05');
      await warehouse.place.execute(`UPDATE identity SET warehouse_id = '${child?.id}'`);
      await backUpOn(warehouse.location, '2026-02-06');
      await backUpOn(warehouse.location, '2026-02-07');
      expect(dated()).toEqual(['02', '03', '05', '06', '07']);
    });

    test('of a warehouse whose file changes a row before it is in place is not put there', {
      tags: 'ci/variant',
    }, async () => {
      const warehouse = await small(database);
      const file = tempFile('backup.db');
      await backUpTo(installed(warehouse.location), file);
      const db = new Sqlite(file);
      db.prepare('UPDATE tokens_daily SET input_tokens = 3').run();
      db.close();
      expect(await thrownBy(checkBackup(file))).toMatchObject({
        exitCode: 6,
        message: expect.stringContaining('the rows of tokens_daily differ'),
      });
    });

    test('with the archive is a pair, also while a run writes it', {
      tags: database === sqlite ? [] : 'ci/variant',
    }, async () => {
      const rig = await archivedRig({ today: parseDay('2026-01-20'), users: 4, reports: 2 }, database);
      await rig.run();
      const file = tempFile('pair.db');
      const { archive, warehouse, exitCode } = await backUpTo(rig, file, { withArchive: true });
      expect(exitCode).toBe(0);
      const saved = file.replace('.db', '.archive.db');
      expect(archive).toEqual({ path: saved, bytes: statSync(saved).size, damages: 0 });
      expect(statSync(saved).mode & 0o777).toBe(0o600);
      expect(query(saved, "SELECT value FROM meta WHERE name = 'backup'")).toEqual([{ value: warehouse.id }]);
      expect(query(saved, 'PRAGMA freelist_count')).toEqual([{ freelist_count: 0 }]);
      const count = (path: string) => query(path, 'SELECT COUNT(*) AS n FROM answers');
      expect(count(saved)).toEqual(count(join(rig.folder, 'archive.db')));
      // The next one replaces both.
      await backUpTo(rig, file, { withArchive: true });
      expect(await checkBackup(file)).not.toMatchObject({ id: warehouse.id });
    });

    test('never replaces what is no backup', { tags: database === sqlite ? [] : 'ci/variant' }, async () => {
      const warehouse = await small(database);
      const notes = tempFile('notes.db');
      writeFileSync(notes, 'mine');
      const live = await archivedRig({ today: parseDay('2026-01-16'), users: 2, reports: 0 }, database);
      await live.run();
      const refused = [notes, ...(database.name === 'SQLite' ? [warehouse.location] : [])];
      for (const path of refused) {
        const before = readFileSync(path);
        expect(await thrownBy(backUpTo(installed(warehouse.location), path))).toMatchObject({ exitCode: 2 });
        expect(readFileSync(path)).toEqual(before);
      }
      // The archive of another installation lies where the backup of this one would go.
      const taken = join(tempDir(), 'live.archive.db');
      copyFileSync(join(live.folder, 'archive.db'), taken);
      const before = readFileSync(taken);
      const file = taken.replace('.archive.db', '.db');
      expect(await thrownBy(backUpTo(live, file, { withArchive: true }))).toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('is not a backup of an archive'),
      });
      expect(readFileSync(taken)).toEqual(before);
      expect(warnings).toEqual([]);
    });
  });
});
