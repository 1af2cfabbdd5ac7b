// @module-tag campaign/faults

import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import {
  expectUndisturbed,
  expectWholeUnits,
  smallRig,
  UNTIL,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { type Rig, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const RUN = ['run', '--until', UNTIL, '--range-days', '1'];

/** Starts a run, disturbs its files once it has stored a unit, and returns how it ended. */
async function disturbed(rig: Rig, disturb: () => void) {
  rig.emulator.setLatency(60);
  const run = startDaywalk([...RUN, '--concurrency', '2'], { env: envOf(rig) });
  await expect.poll(run.stderr, { interval: 5 }).toContain('"event":"unit-done"');
  expect(run.child.exitCode).toBe(null);
  disturb();
  const ended = await run.ended;
  rig.emulator.setLatency(0);
  return ended;
}

/** A rig whose warehouse is in a folder that may be removed. */
async function rigInFolder(): Promise<Rig> {
  const { emulator } = await smallRig(sqlite);
  const folder = join(tempDir(), 'folder');
  mkdirSync(folder);
  return rigOver(emulator, sqlitePlace(join(folder, 'w.db')));
}

/** The same service, and the file under another name. */
const under = (rig: Rig, path: string) => rigOver(rig.emulator, sqlitePlace(path));

onDatabase(sqlite, () => {
  describe('F1: a warehouse with two names', () => {
    test('F1: is refused with exit code 2 under either name by every command, and nothing is sent', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await smallRig(sqlite);
      await walk(rig);
      const other = join(dirname(rig.path), 'b.db');
      linkSync(rig.path, other);
      const before = readFileSync(rig.path);
      rig.emulator.resetJournal();
      for (const path of [rig.path, other]) {
        for (const command of [RUN, ['status'], ['digest'], ['hooks', 'drain'], ['verify']]) {
          const { code, stderr } = await daywalkInProcess([...command, '--warehouse', path], {
            env: envOf(rig),
          });
          expect(code, `${command[0]} ${path}`).toBe(2);
          expect(stderr).toContain(`the file ${path} has 2 names (hard links)`);
          expect(stderr).toContain('-samefile');
        }
      }
      expect(rig.emulator.journal().requests).toBe(0);
      expect(readFileSync(rig.path).equals(before)).toBe(true);
      rmSync(other);
      expect((await walk(rig)).report.exitCode).toBe(0);
      await expectUndisturbed(rig);
    });

    test('F1: is refused also when the link is made during a run', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(sqlite);
      const other = join(dirname(rig.path), 'b.db');
      const seconds: Promise<{ code: number | null }>[] = [];
      const first = await disturbed(rig, () => {
        linkSync(rig.path, other);
        seconds.push(daywalk([...RUN, '--warehouse', other], { env: envOf(rig) }));
      });
      expect((await seconds[0])?.code).toBe(2);
      expect(first.code, first.stderr).toBe(0);
      rmSync(other);
      await expectUndisturbed(rig);
    });

    test('F1: is refused if its log has two names', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(sqlite);
      await walk(rig);
      const reader = new Sqlite(rig.path);
      reader.prepare('SELECT COUNT(*) FROM export_units').get();
      linkSync(`${rig.path}-wal`, join(dirname(rig.path), 'b.db-wal'));
      const { code, stderr } = await daywalkInProcess(RUN, { env: envOf(rig) });
      reader.close();
      expect(code).toBe(2);
      expect(stderr).toContain(`the file ${rig.path}-wal has 2 names`);
    });

    test('F1: is locked once if one name is a symbolic link', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(sqlite);
      await walk(rig, { streams: ['tokens'] });
      const link = join(tempDir(), 'link.db');
      symlinkSync(rig.path, link);
      const seconds: Promise<{ code: number | null }>[] = [];
      const first = await disturbed(rig, () => {
        // On a busy machine the first run could otherwise end before the second process starts.
        rig.emulator.setLatency(1_000);
        const second = daywalk([...RUN, '--warehouse', link], { env: envOf(rig) });
        const speedUp = () => rig.emulator.setLatency(60);
        second.then(speedUp, speedUp);
        seconds.push(second);
      });
      expect((await seconds[0])?.code).toBe(75);
      expect(first.code, first.stderr).toBe(0);
      await expectUndisturbed(under(rig, link));
    });
  });

  describe('F1: a warehouse that disappears during a run', () => {
    test('F1: when it is removed, the run exits with 6', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(sqlite);
      const { code, stdout, stderr } = await disturbed(rig, () => rmSync(rig.path));
      expect(code, stderr).toBe(6);
      expect(stdout).not.toContain('complete');
      expect(stderr).toContain(`${rig.path}: the file was removed or moved while it was in use`);
      expect(existsSync(rig.path)).toBe(false);
      expect((await daywalkInProcess(RUN, { env: envOf(rig) })).code).toBe(0);
      await expectUndisturbed(rig);
    });

    test('F1: when its folder is removed, the run exits with 6', { tags: 'ci/variant' }, async () => {
      const rig = await rigInFolder();
      const { code, stderr } = await disturbed(rig, () => rmSync(dirname(rig.path), { recursive: true }));
      expect(code, stderr).toBe(6);
      expect(stderr).toContain('removed or moved');
    });

    test('F1: when it is moved, the run exits with 6, and all committed units are in the file', {
      tags: 'ci/variant',
    }, async () => {
      const rig = await smallRig(sqlite);
      const moved = join(tempDir(), 'moved.db');
      const { code, stderr } = await disturbed(rig, () => renameSync(rig.path, moved));
      expect(code, stderr).toBe(6);
      expect(stderr).toContain('if it was moved, all that was committed is in it');
      const there = under(rig, moved);
      expect(await there.value('PRAGMA integrity_check')).toBe('ok');
      expect(Number(await there.value('SELECT COUNT(*) FROM export_units'))).toBeGreaterThan(0);
      await expectWholeUnits(there);
      renameSync(moved, rig.path);
      expect((await daywalkInProcess(RUN, { env: envOf(rig) })).code).toBe(0);
      await expectUndisturbed(rig);
    });

    test('F1: when its folder is moved, the run exits with 6, and the next run continues there', {
      tags: 'ci/variant',
    }, async () => {
      const rig = await rigInFolder();
      const moved = join(tempDir(), 'moved');
      const { code, stderr } = await disturbed(rig, () => renameSync(dirname(rig.path), moved));
      expect(code, stderr).toBe(6);
      const there = under(rig, join(moved, 'w.db'));
      await expectWholeUnits(there);
      expect((await daywalkInProcess(RUN, { env: envOf(there) })).code).toBe(0);
      await expectUndisturbed(there);
    });

    test('F1: when another file replaces it, the run exits with 6 and does not change the other file', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await smallRig(sqlite);
      await walk(rig, { streams: ['tokens'] });
      const backup = join(dirname(rig.path), 'backup.db');
      copyFileSync(rig.path, backup);
      const digest = await under(rig, backup).digest();
      const { ino } = statSync(backup);
      const { code, stderr } = await disturbed(rig, () => renameSync(backup, rig.path));
      expect(code, stderr).toBe(6);
      expect(stderr).toContain(`${rig.path}: another file was put in its place`);
      expect(statSync(rig.path).ino).toBe(ino);
      // The log of the old file is not taken for that of the new one.
      expect(await rig.digest()).toBe(digest);
      expect(await rig.value('PRAGMA integrity_check')).toBe('ok');
      expect((await daywalkInProcess(RUN, { env: envOf(rig) })).code).toBe(0);
      await expectUndisturbed(rig);
    });

    test('F1: when only its log is removed, the run exits with 6, and all committed units are in the file', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await smallRig(sqlite);
      const { code, stderr } = await disturbed(rig, () => rmSync(`${rig.path}-wal`));
      expect(code, stderr).toBe(6);
      expect(stderr).toContain(`${rig.path}-wal was removed or replaced`);
      await expectWholeUnits(rig);
      expect((await daywalkInProcess(RUN, { env: envOf(rig) })).code).toBe(0);
      await expectUndisturbed(rig);
    });
  });
});
