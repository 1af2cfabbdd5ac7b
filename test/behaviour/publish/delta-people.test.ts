import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { applyPolicy } from '../../../jobs/privacy.ts';
import { publish } from '../../../jobs/publish.ts';
import { applyRetention } from '../../../jobs/retention.ts';
import { publishedTables, tables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { backUpTo, copyTo, restoreFrom } from '../../support/backup/run-backup.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { deltaRows, pathsIn, recordedVersions, textsIn, viewOf } from '../../support/publish/delta.ts';
import { contextOf, type Rig } from '../../support/rig/rig.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { needsSessions, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-30');
const KEEP = { count: 7, unit: 'd' } as const;

function publishTo(rig: Pick<Rig, 'settings'>, directory: string) {
  const delta = { directory, tables: publishedTables, force: false, keep: KEEP };
  return publish(rig.settings, { delta }, contextOf(today));
}

onEachDatabase((database) => {
  const exported = async () => {
    const rig = await archivedRig({ today, users: 6, reports: 2 }, database);
    await rig.run();
    const lake = join(tempDir(), 'lake');
    await publishTo(rig, lake);
    return { rig, lake };
  };

  /** The files of a lake that say one of some values. */
  const filesWith = async (lake: string, values: readonly string[], only?: (path: string) => boolean) => {
    const texts = [...(await textsIn(lake, only))];
    return texts.filter(([, text]) => values.some((value) => text.includes(value))).map(([path]) => path);
  };

  describe('Delta tables', () => {
    test('have every row of every table of the warehouse, at the recorded versions', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, lake } = await exported();
      const warehouse = await open(rig.place);
      const versions = recordedVersions(lake);
      for (const table of publishedTables) {
        const stored: unknown[] = [];
        for await (const rows of warehouse.scan(table)) stored.push(...rows);
        expect(await deltaRows(lake, table, versions[table.name]), table.name).toEqual(stored);
      }
    });

    test('name no person in their logs, and say the ranges of dates and numbers', async () => {
      const { rig, lake } = await exported();
      const people = [
        ...(await rig.column<string>('SELECT DISTINCT user_id FROM user_daily')),
        ...(await rig.column<string>(
          'SELECT DISTINCT user_email FROM user_daily WHERE user_email IS NOT NULL',
        )),
      ];
      expect(people.length).toBeGreaterThan(5);
      const isLog = (path: string) => path.includes('_delta_log');
      expect(await filesWith(lake, people, isLog)).toEqual([]);
      expect((await filesWith(lake, people)).length).toBeGreaterThan(1);
      const { stats, files } = await viewOf(lake, 'user_daily');
      const file = await asyncBufferFromFile(join(lake, 'user_daily', files[0] ?? ''));
      const chunks = (await parquetMetadataAsync(file)).row_groups.flatMap(({ columns }) => columns);
      const ranged = chunks.filter(({ meta_data: column }) => column?.statistics?.min_value !== undefined);
      expect(ranged.map(({ meta_data: column }) => column?.path_in_schema[0])).toContain('date');
      // Footers of data files have ranges of the same columns.
      expect(ranged.filter(({ meta_data: column }) => column?.type === 'BYTE_ARRAY')).toEqual([]);
      expect(stats[0]).toMatchObject({
        numRecords: await rig.value('SELECT COUNT(*) FROM user_daily'),
        minValues: { date: await rig.value('SELECT CAST(MIN(date) AS TEXT) FROM user_daily') },
        maxValues: { billable_tokens: await rig.value('SELECT MAX(billable_tokens) FROM user_daily') },
      });
    });
  });

  describe('an erasure', () => {
    test('leaves no byte of the person in the lake, and takes away the versions before', async () => {
      const { rig, lake } = await exported();
      const { user, email } = await somebody(rig);
      expect((await filesWith(lake, [user, email])).length).toBeGreaterThan(1);
      const { files } = await viewOf(lake, 'user_daily', 0);
      const { certificate } = await eraseFrom(rig, { user });
      expect(certificate).toMatchObject({ published: [], lakes: [join(lake, 'daywalk_versions.json')] });
      expect(await filesWith(lake, [user, email])).toEqual([]);
      // Who has opened the first version asks for its files.
      for (const path of files) expect(existsSync(join(lake, 'user_daily', path))).toBe(false);
      await expect(viewOf(lake, 'user_daily', 0)).rejects.toThrow('no version 0');
      const warehouse = await open(rig.place);
      const stored: unknown[] = [];
      for await (const rows of warehouse.scan(tables.userDaily)) stored.push(...rows);
      expect(await deltaRows(lake, tables.userDaily, recordedVersions(lake)['user_daily'])).toEqual(stored);
      const log = pathsIn(lake).filter((path) => path.startsWith('user_daily/_delta_log/'));
      expect(log.map((path) => path.slice(path.lastIndexOf('/') + 1))).toEqual([
        '00000000000000000001.checkpoint.parquet',
        '00000000000000000001.json',
        '_last_checkpoint',
      ]);
    });

    test('names a lake that is not where it was', { tags: 'ci/rare' }, async () => {
      const { rig, lake } = await exported();
      const { user } = await somebody(rig);
      renameSync(lake, `${lake} elsewhere`);
      const { certificate } = await eraseFrom(rig, { user });
      expect(certificate.published).toEqual([join(lake, 'daywalk_versions.json')]);
      expect(certificate.lakes).toBeUndefined();
    });
  });

  test('a policy that is applied leaves no address in the lake', { tags: 'ci/rare' }, async () => {
    const { rig, lake } = await exported();
    const { email } = await somebody(rig);
    expect((await filesWith(lake, [email])).length).toBeGreaterThan(1);
    const settings = { ...rig.settings, emails: { ...rig.settings.emails, mode: 'drop' as const } };
    await applyPolicy(
      settings,
      { isDryRun: false, wait: false },
      { ...contextOf(today), observe: () => undefined },
    );
    expect(await filesWith(lake, [email])).toEqual([]);
  });

  describe('a warehouse that loses people in another way', () => {
    const HASH = { mode: 'hash', salt: 'a long enough salt for the tests' } as const;

    test('by a restore under a stricter policy, leaves no address in its lake', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(database);
      const { rig, lake } = await exported();
      const { email } = await somebody(rig);
      const file = tempFile('backup.db');
      await backUpTo(rig, file);
      expect((await filesWith(lake, [email])).length).toBeGreaterThan(1);
      const settings = { ...rig.settings, emails: HASH };
      const report = await restoreFrom({ settings, today }, file, { replace: true });
      expect(report).toMatchObject({ exitCode: 0 });
      expect(await filesWith(lake, [email])).toEqual([]);
      expect((await deltaRows(lake, tables.userDaily)).length).toBeGreaterThan(0);
    });

    test('by a copy from where they were erased, leaves nothing of them in its lake', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(database);
      const { rig } = await exported();
      const { user, email } = await somebody(rig);
      const target = await database.migrated();
      await copyTo(rig, target.location);
      const lake = join(tempDir(), 'lake of the copy');
      await publishTo({ settings: { ...rig.settings, warehouse: target.location } }, lake);
      await eraseFrom(rig, { user });
      expect((await filesWith(lake, [user, email])).length).toBeGreaterThan(1);
      expect(await copyTo(rig, target.location)).toMatchObject({ exitCode: 0 });
      expect(await filesWith(lake, [user, email])).toEqual([]);
    });

    test('by a file that was corrected, leaves nothing of them after the policy is applied', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig({ today, users: 6, reports: 2 }, database, { emails: HASH });
      await rig.run();
      const lake = join(tempDir(), 'lake');
      const cwd = tempDir();
      const load = async (text: string) => {
        writeFileSync(join(cwd, 'people.csv'), text);
        const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: '2026-01-30T03:00:00Z' };
        const loaded = await daywalkInProcess(['people', 'load', 'people.csv'], { env, cwd });
        expect(loaded.code, loaded.stderr).toBe(0);
      };
      await load('user_email,team\neve@example.com,core\n');
      await publishTo(rig, lake);
      await load('user_id,team\nuser_01ABCDEFGH,core\n');
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      expect((await filesWith(lake, ['eve@example.com'])).length).toBeGreaterThan(0);
      const applied = await applyPolicy(
        rig.settings,
        { isDryRun: false, wait: false },
        { ...contextOf(today), observe: () => undefined },
      );
      expect(applied.rows.size).toBe(0);
      expect(await placesOf(['eve@example.com'], searched)).toEqual([]);
      expect(await filesWith(lake, ['eve@example.com'])).toEqual([]);
    });
  });

  test('hook events that are older than they are to be kept leave the lake at once', {
    tags: 'ci/rare',
  }, async () => {
    const { rig } = await exported();
    const warehouse = await open(rig.place);
    const rows = ['2026-01-01T00:00:00.000Z', '2026-01-29T00:00:00.000Z'].map((received_at, n) => ({
      ...{ event_id: `event-${n}`, received_at, hook_event_name: 'Stop', session_id: 's-1', cwd: '/srv' },
      ...{ message: `what was said in event ${n}`, reason: null, payload: '{}' },
    }));
    await storeHookEvents(warehouse, { orgId: 'org_1', rows });
    const lake = join(tempDir(), 'lake with events');
    await publishTo(rig, lake);
    const old = ['what was said in event 0'];
    expect(await filesWith(lake, old)).toHaveLength(1);
    const settings = { ...rig.settings, retainEvents: { count: 7, unit: 'd' as const } };
    const how = { isDryRun: false, compact: false, wait: false };
    const { lakes } = await applyRetention(settings, how, contextOf(today));
    expect(lakes?.renewed).toContain(join(lake, 'daywalk_versions.json'));
    expect(await filesWith(lake, old)).toEqual([]);
    expect(await deltaRows(lake, tables.hookEvents)).toHaveLength(1);
  });
});
