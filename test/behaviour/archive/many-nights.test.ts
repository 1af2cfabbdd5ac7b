import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addNights, NIGHT_RATIO_MAX, NIGHTS } from '../../../bench/archive.ts';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig, hastyClock } from '../../support/archive/archived-rig.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const [yesterday, today] = [parseDay('2026-01-29'), parseDay('2026-01-30')];
/** Of the smallest number: noise only ever adds. */
const ROUNDS = 5;
const IO = '/proc/self/io';

/** What this process has read and written so far, whatever of it came from a cache. */
function bytesMoved(): number {
  const text = readFileSync(IO, 'utf8');
  return ['rchar', 'wchar'].reduce(
    (sum, name) => sum + Number(new RegExp(`${name}: (\\d+)`).exec(text)?.[1]),
    0,
  );
}

const isLinux = process.platform === 'linux';
test('a night moves as many bytes with an archive of 1,100 nights as with one of 30', {
  ...leftOut(isLinux ? null : `there is no ${IO}`),
  timeout: 60_000,
  tags: 'ci/rare',
}, async () => {
  const rig = await archivedRig({ today, users: 60, reports: 2 }, sqlite);
  await rig.run({ now: yesterday });
  const archives = new Map<number, string>();
  for (const nights of NIGHTS) {
    const folder = tempDir();
    cpSync(rig.folder, folder, { recursive: true });
    await addNights(join(folder, 'archive.db'), nights);
    archives.set(nights, folder);
  }
  const least = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [nights, begun] of archives) {
      const folder = tempDir();
      cpSync(begun, folder, { recursive: true });
      cpSync(rig.path, join(folder, 'daywalk.db'));
      const night = rigOver(rig.emulator, sqlitePlace(join(folder, 'daywalk.db')), today);
      const before = bytesMoved();
      const { report } = await night.run({
        clock: hastyClock(today),
        settings: { archives: [join(folder, 'archive.db')] },
      });
      const moved = bytesMoved() - before;
      expect(report.exitCode).toBe(0);
      least.set(nights, Math.min(moved, least.get(nights) ?? Number.POSITIVE_INFINITY));
    }
  const [few = 0, ...more] = least.values();
  for (const moved of more) expect(moved / few).toBeLessThan(NIGHT_RATIO_MAX);
});
