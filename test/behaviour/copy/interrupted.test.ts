// @module-tag database-specific

import { describe, expect, test } from 'vitest';
import { contentTables } from '../../../schema/tables.ts';
import { backUpTo } from '../../support/backup/run-backup.ts';
import { fill } from '../../support/copy/large-warehouse.ts';
import { contentOf, copy, onEachCopyable } from '../../support/copy/run-copy.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

/** Copies until the first transaction is committed. */
async function interrupt(from: string, to: string, replace = false): Promise<void> {
  const controller = new AbortController();
  const stopped = copy(from, to, {
    replace,
    signal: controller.signal,
    onEvent: ({ type }) => {
      if (type === 'copied') controller.abort(new Error('enough'));
    },
  });
  await expect(stopped).rejects.toThrow('enough');
}

async function source(days = 3): Promise<string> {
  const warehouse = await open(sqlite);
  await fill(warehouse, { days, users: 3, reports: 2 });
  return warehouse.place.location;
}

const refusal = { exitCode: 6, message: expect.stringContaining('was interrupted') };

onEachCopyable((database) => {
  describe('a copy that was interrupted', () => {
    test('is no warehouse to run, back up, read, copy or load into, until the same copy completes it', {
      tags: 'ci/rare',
    }, async () => {
      const [from, rig] = [await source(), await createRig({ users: 3, reports: 2 }, { database })];
      const to = rig.path;
      await interrupt(from, to);
      await expect(rig.run()).rejects.toMatchObject(refusal);
      await expect(backUpTo(rig, tempFile('backup.db'))).rejects.toMatchObject(refusal);
      await expect(copy(to, tempFile('copy.db'))).rejects.toMatchObject(refusal);
      await expect(copy(await source(2), to)).rejects.toMatchObject(refusal);
      for (const args of [
        ['status'],
        ['report', '--out', tempFile('report.html')],
        ['people', 'list'],
        ['erase', '--user', 'u'],
      ]) {
        const { code, stderr } = await daywalkInProcess(args, { env: { DAYWALK_WAREHOUSE: to } });
        expect([args, code, stderr]).toEqual([
          args,
          6,
          expect.stringContaining('repeat the copy: it resumes'),
        ]);
      }
      const health = await daywalkInProcess(['status', '--health'], { env: { DAYWALK_WAREHOUSE: to } });
      expect([health.code, health.stdout]).toEqual([1, expect.stringContaining('was interrupted')]);
      expect((await copy(from, to)).report.exitCode).toBe(0);
      expect(await contentOf(to)).toEqual(await contentOf(from));
      await open(rig.place);
    });

    test('into an earlier copy leaves that in use; into another warehouse it does not', {
      tags: 'ci/variant',
    }, async () => {
      const from = await source();
      const place = database.place();
      await copy(from, place.location);
      const grown = await open(sqlitePlace(from));
      await fill(grown, { days: 5, users: 3, reports: 2 });
      await interrupt(from, place.location);
      await open(place);
      const other = await source(2);
      await interrupt(other, place.location, true);
      await expect(open(place)).rejects.toMatchObject(refusal);
      await expect(copy(from, place.location)).rejects.toMatchObject(refusal);
      await copy(other, place.location, { replace: true });
      await open(place);
      expect(await contentOf(place.location, contentTables)).toEqual(await contentOf(other, contentTables));
    });

    test('before it has written anything is none', { tags: 'ci/variant' }, async () => {
      const place = database.place();
      await copy(await source(5), place.location);
      await expect(copy(await source(2), place.location)).rejects.toMatchObject({ exitCode: 2 });
      await open(place);
    });
  });
});
