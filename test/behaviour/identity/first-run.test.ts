// @module-tag database-specific

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adopt } from '../../../jobs/warehouse.ts';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { meetArchive, readKnownWarehouses } from '../../../src/archive/meet-warehouse.ts';
import { readWarehouseSide } from '../../../src/identity/index.ts';
import { archivedRig, hastyClock } from '../../support/archive/archived-rig.ts';
import { keep, opened, PATIENCE } from '../../support/archive/small-archive.ts';
import { contextOf, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { needsSessions, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const small = { users: 5, today: '2026-01-17', reports: 1 } as const;
/** Nothing listens there. */
const DOWN = { baseUrl: 'http://127.0.0.1:9', appUrl: 'http://127.0.0.1:9', attempts: 1 };

onEachDatabase((database) => {
  it('a first run that the service did not answer locks out neither itself nor another one, and only one of them stays', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await archivedRig(small, database);
    const failed = await rig.run({ settings: DOWN });
    expect(failed.report.exitCode).toBe(4);
    const other = rigOver(rig.emulator, await database.migrated(), rig.today);
    const joined = { archives: [rig.folder] };
    const runs = () => other.run({ clock: hastyClock(rig.today), settings: joined });
    expect((await runs()).report.exitCode).toBe(0);
    await expect(rig.run()).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('which it does not know'),
    });
    const id = (await rig.value('SELECT warehouse_id FROM identity')) ?? '';
    await adopt(rig.settings, id, { ...contextOf(rig.today), wait: false });
    expect((await rig.run()).report.exitCode).toBe(0);
    expect((await runs()).report.exitCode).toBe(0);
  });

  it('a first run that failed is followed by its own warehouse', async () => {
    const rig = await archivedRig(small, database);
    expect((await rig.run({ settings: DOWN })).report.exitCode).toBe(4);
    const { report, events } = await rig.run();
    expect(report.exitCode).toBe(0);
    expect(events.filter(({ type }) => type === 'warning')).toEqual([]);
  });

  it('an archive that a first run was writing when it was killed belongs to its warehouse', async () => {
    const archive = join(tempDir(), 'archive.db');
    const [first, second] = [await open(database), await open(database)];
    await meetArchive({ archive, warehouse: first, ...PATIENCE });
    const writer = await opened(archive);
    await keep(writer);
    await writer.close();
    await expect(meetArchive({ archive, warehouse: second, ...PATIENCE })).rejects.toMatchObject({
      exitCode: 6,
    });
    await meetArchive({ archive, warehouse: first, ...PATIENCE });
    rmSync(archive);
  });

  it('workers that meet an archive at the same time all go on, and it remembers their warehouse once', async () => {
    needsSessions(database);
    const archive = join(tempDir(), 'archive.db');
    const place = await database.migrated();
    const workers = await Promise.all(Array.from({ length: 4 }, () => open(place)));
    const meetings = await Promise.all(
      workers.map((warehouse) => meetArchive({ archive, warehouse, ...PATIENCE })),
    );
    expect(meetings.map(({ comparison }) => comparison.mismatch)).toEqual([null, null, null, null]);
    expect(await place.query('SELECT COUNT(*) AS archives FROM archives')).toEqual([{ archives: 1 }]);
    const { identity } = await readWarehouseSide(workers[0] ?? (await open(place)), null);
    const known = await withArchive(ArchiveFile.read(archive), readKnownWarehouses);
    expect(known.map(({ id }) => id)).toEqual([identity?.id]);
  });
});
