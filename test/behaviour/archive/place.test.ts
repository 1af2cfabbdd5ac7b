import fs, { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { adopt } from '../../../jobs/warehouse.ts';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { verifyArchive } from '../../../src/archive/damage.ts';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { keep, opened } from '../../support/archive/small-archive.ts';
import { eraseFrom } from '../../support/erase/erase-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const SMALL = { today: parseDay('2026-01-20'), users: 6, reports: 2 };

/** Makes every file system one of a type. */
function mountAs(type: number): void {
  const { statfsSync } = fs;
  vi.spyOn(fs, 'statfsSync').mockImplementation(((path: string) =>
    Object.assign(statfsSync(path), { type })) as typeof fs.statfsSync);
  syncBuiltinESMExports();
}

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe('an archive', () => {
  test('is the file that is named, or archive.db in the folder, for its owner only', async () => {
    const folder = tempDir();
    for (const [given, path] of [
      [join(folder, 'deep', 'here.db'), join(folder, 'deep', 'here.db')],
      [join(folder, 'in'), join(folder, 'in', 'archive.db')],
    ] as const) {
      const archive = await opened(given);
      await keep(archive);
      await archive.close();
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(await verifyArchive(given)).toMatchObject({ archive: path, findings: [], answers: 1 });
      const db = new Sqlite(path, { readonly: true });
      const set = (name: string) => db.pragma(name, { simple: true });
      expect([set('page_size'), set('auto_vacuum'), set('journal_mode')]).toEqual([16_384, 2, 'wal']);
      db.close();
      // A commit of the warehouse relies on the archive, also after a power loss; and what is removed leaves no bytes.
      const [synchronous, secureDelete] = await withArchive(ArchiveFile.write(path), ({ db: own }) =>
        ['synchronous', 'secure_delete'].map((name) => own.pragma(name, { simple: true })),
      );
      expect([synchronous, secureDelete]).toEqual([2, 1]);
    }
  });

  test.each([
    ['NFS', 0x6969],
    ['SMB', 0x517b],
    ['SMB', 0xff534d42],
    ['SMB', 0xfe534d42],
  ])('is refused on %s (%d)', async (name, type) => {
    mountAs(type);
    await expect(opened(tempDir())).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`is on ${name}`),
    });
  });

  test('is not refused on a file system that nobody knows', async () => {
    mountAs(0x7fffffff);
    await (await opened(tempDir())).close();
  });

  test('of an earlier build is refused by every command that would use it', async () => {
    const rig = await archivedRig(SMALL, sqlite);
    await rig.run({ settings: { archives: [] } });
    const folder = tempDir();
    mkdirSync(join(folder, 'objects'));
    const env = { ...envOf(rig), DAYWALK_ARCHIVE: folder };
    const words = 'is an archive of an earlier build; keep it elsewhere or delete it, for nothing sweeps it';
    for (const args of [
      ['run'],
      ['replay'],
      ['archive', 'verify'],
      ['archive', 'prune', '--older-than', '4d'],
      ['archive', 'show', '--stream', 'readiness'],
      ['erase', '--user', 'somebody'],
    ]) {
      const { code, stderr } = await daywalkInProcess(args, { env });
      expect([args[0], code, stderr]).toEqual([args[0], 2, expect.stringContaining(words)]);
    }
    await expect(eraseFrom(rig, { user: 'somebody' }, { archives: [folder] })).rejects.toMatchObject({
      exitCode: 2,
    });
    // Something new beside it is fine.
    expect((await rig.run({ settings: { archives: [join(folder, 'new.db')] } })).report.exitCode).toBe(0);
  });

  test('is not written into a database of another program, or of a newer version', async () => {
    const path = join(tempDir(), 'other.db');
    const other = new Sqlite(path);
    other.exec('CREATE TABLE notes (text)');
    other.close();
    await expect(opened(path)).rejects.toMatchObject({ exitCode: 2 });
    const newer = join(tempDir(), 'newer.db');
    await (await opened(newer)).close();
    const db = new Sqlite(newer);
    db.pragma('user_version = 2');
    db.close();
    await expect(opened(newer)).rejects.toThrow(/newer version/);
    const text = join(tempDir(), 'text.db');
    writeFileSync(text, 'no database at all, and longer than the header of one'.repeat(9));
    await expect(opened(text)).rejects.toMatchObject({ exitCode: 6 });
  });

  test('several of them are taken by replay and verify, and by no command that writes one', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await archivedRig(SMALL, sqlite);
    const [one, two] = [join(tempDir(), 'one.db'), join(tempDir(), 'two.db')];
    await rig.run({ streams: ['users', 'tokens'], settings: { archives: [one] } });
    const [known = ''] = await rig.column<string>('SELECT archive_id FROM archives');
    await adopt({ ...rig.settings, archives: [two] }, known, { ...contextOf(rig.today), wait: false });
    await rig.run({
      streams: ['tools', 'activity', 'productivity', 'readiness'],
      settings: { archives: [two] },
    });
    for (const archive of [one, two]) {
      const alone = await rig.replayInto({}, { archives: [archive] });
      expect(await alone.rig.digest()).not.toBe(await rig.digest());
    }
    const { rig: copy } = await rig.replayInto({}, { archives: [one, two] });
    expect(await copy.digest()).toBe(await rig.digest());
    const env = { ...envOf(rig), DAYWALK_NOW: `${SMALL.today}T05:00:00Z` };
    const named = ['--archive', one, '--archive', two];
    const verified = await daywalkInProcess(['archive', 'verify', '--json', ...named], { env });
    const counts = await Promise.all([one, two].map(verifyArchive));
    expect(JSON.parse(verified.stdout)).toMatchObject({
      exit_code: 0,
      answers: counts.reduce((sum, { answers }) => sum + answers, 0),
    });
    for (const args of [
      ['run'],
      ['archive', 'prune', '--older-than', '9d'],
      ['archive', 'show', '--stream', 'readiness'],
    ]) {
      const { code, stderr } = await daywalkInProcess([...args, ...named], { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining('several archives')]);
    }
  });
});
