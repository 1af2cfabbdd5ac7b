import fs, { cpSync, existsSync, fstatSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { keep, opened } from '../../support/archive/small-archive.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

type Sync = (file: number, done: (error: NodeJS.ErrnoException | null) => void) => void;

/** Each sync of a log goes through this function from now on. */
function syncBy(sync: Sync): void {
  vi.spyOn(fs, 'fdatasync').mockImplementation(sync);
  syncBuiltinESMExports();
}

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Answers that the file at a path has after a power loss that leaves this file and its log. */
const answersIn = (path: string): Promise<number> =>
  withArchive(ArchiveFile.write(path), ({ db }) =>
    Number(db.prepare('SELECT COUNT(*) FROM answers').pluck().get()),
  );

describe('an answer that a run has archived', () => {
  test('is on the disk before anything relies on it', async () => {
    const path = join(tempDir(), 'archive.db');
    const archive = await opened(path);
    let left = '';
    const synced: boolean[] = [];
    syncBy((file, done) => {
      synced.push(fstatSync(file).ino === statSync(`${path}-wal`).ino);
      // The disk is slow: what was written meanwhile need not be on it.
      left = join(tempDir(), 'left.db');
      for (const end of ['', '-wal']) cpSync(`${path}${end}`, `${left}${end}`);
      setTimeout(() => done(null), 50);
    });
    for (const number of [1, 2, 3]) {
      await keep(archive, { text: `{"n":${number}}` });
      expect(await answersIn(left)).toBe(number);
    }
    await archive.close();
    expect(synced).toEqual([true, true, true]);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('is not promised if the disk does not take it, and neither are later ones', async () => {
    const path = join(tempDir(), 'archive.db');
    const archive = await opened(path);
    syncBy((_file, done) => done(Object.assign(new Error('input/output error'), { code: 'EIO' })));
    await expect(keep(archive)).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(path),
    });
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    await expect(keep(archive)).rejects.toMatchObject({ exitCode: 6 });
    await archive.close();
  });
});
