import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { keptOutOf } from '../../../src/archive/people.ts';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-20');

/** A warehouse whose archive is a file, and the path to which the tests move it. */
async function exported() {
  const rig = await archivedRig({ today, users: 6, reports: 2 }, sqlite);
  const folder = tempDir();
  const [former, now] = [join(folder, 'arch.db'), join(folder, 'new', 'arch.db')];
  mkdirSync(join(folder, 'new'));
  const run = async (archive: string) => (await rig.run({ settings: { archives: [archive] } })).report;
  expect((await run(former)).exitCode).toBe(0);
  const { user, email } = await somebody(rig);
  const erase = (archive: string) => eraseFrom(rig, { user }, { archives: [archive] });
  const leftIn = (archive: string) => placesOf([user, email], { place: rig.place, archive, spool: '' });
  return { rig, former, now, run, erase, leftIn };
}

test('an archive that was moved is erased from at its new place, after a run and before one', {
  tags: 'ci/rare',
}, async () => {
  for (const runsBetween of [true, false]) {
    const { rig, former, now, run, erase, leftIn } = await exported();
    renameSync(former, now);
    if (runsBetween) expect((await run(now)).exitCode).toBe(0);
    await erase(now);
    expect(await leftIn(now)).toEqual([]);
    expect(await rig.column("SELECT value FROM export_state WHERE name = 'archives'")).toEqual([
      JSON.stringify([now]),
    ]);
    expect((await run(now)).exitCode).toBe(0);
  }
});

test('an empty file stands for a deleted copy, and not for an archive that is missing', {
  tags: 'ci/rare',
}, async () => {
  const { rig, former, now, run, erase, leftIn } = await exported();
  copyFileSync(former, now);
  expect((await run(now)).exitCode).toBe(0);
  rmSync(former);
  await expect(erase(now)).rejects.toMatchObject({
    exitCode: 2,
    hint: expect.stringContaining('create an empty file in its place'),
  });
  writeFileSync(former, '');
  renameSync(now, `${now}.away`);
  writeFileSync(now, '');
  const [id] = await rig.column('SELECT archive_id FROM archives');
  for (const archives of [[now], []])
    await expect(eraseFrom(rig, { user: 'user_0' }, { archives })).rejects.toMatchObject({
      exitCode: 6,
      facts: { id },
    });
  renameSync(`${now}.away`, now);
  await erase(now);
  expect(await leftIn(now)).toEqual([]);
  expect((await run(now)).exitCode).toBe(0);
});

test('a copy that is left at the former place is swept, and the next runs and erasures are not refused', {
  tags: 'ci/variant',
}, async () => {
  const { rig, former, now, run, erase, leftIn } = await exported();
  copyFileSync(former, now);
  expect((await run(now)).exitCode).toBe(0);
  await erase(now);
  for (const archive of [former, now]) {
    expect(await leftIn(archive)).toEqual([]);
    expect((await withArchive(ArchiveFile.read(archive), keptOutOf)).entries.length).toBeGreaterThan(0);
  }
  expect((await run(now)).exitCode).toBe(0);
  // The next one names none, so the place of the last meeting counts.
  const [other = ''] = await rig.column<string>('SELECT max(user_id) FROM user_daily');
  await eraseFrom(rig, { user: other }, { archives: [] });
  for (const archive of [former, now])
    expect(await placesOf([other], { place: rig.place, archive, spool: '' })).toEqual([]);
  expect((await run(now)).exitCode).toBe(0);
});
