import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { copyPair, NIGHT_RATIO_MAX, ONE_DAY_EACH, withNights } from '../../../bench/archive.ts';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const [yesterday, today] = [parseDay('2026-01-29'), parseDay('2026-01-30')];
/** Of the smallest numbers: noise only ever adds. */
const ROUNDS = 3;
const IO = '/proc/self/io';

/** What this process has read and written so far, whatever of it came from a cache. */
function bytesMoved(): number {
  const text = readFileSync(IO, 'utf8');
  return ['rchar', 'wchar'].reduce(
    (sum, name) => sum + Number(new RegExp(`${name}: (\\d+)`).exec(text)?.[1]),
    0,
  );
}

/** Counts the rows that statements on archives return. night.test.ts looks for scans. */
function countArchivedRows(): { rows: number } {
  const seen = { rows: 0 };
  const db = new Sqlite(':memory:');
  const proto = Object.getPrototypeOf(db.prepare('SELECT 1'));
  db.close();
  const all = proto.all;
  onTestFinished(() => {
    proto.all = all;
  });
  proto.all = function (this: Sqlite.Statement, ...values: unknown[]) {
    const rows = all.apply(this, values);
    if (this.database.name.endsWith('archive.db')) seen.rows += 1 + rows.length;
    return rows;
  };
  return seen;
}

const isLinux = process.platform === 'linux';
test('a night reads as many rows with an archive of 1,100 nights as with one of 30, and moves as many bytes as with one of 300', {
  ...leftOut(isLinux ? null : `there is no ${IO}`),
  timeout: 180_000,
  tags: 'ci/rare',
}, async () => {
  const rig = await archivedRig({ today, users: 300, reports: 2, quirks: ONE_DAY_EACH }, sqlite);
  await rig.run({ now: yesterday });
  const newPair = () => {
    const folder = tempDir();
    return { warehouse: join(folder, 'daywalk.db'), archive: join(folder, 'archive.db') };
  };
  const pairs = await withNights({ warehouse: rig.path, archive: join(rig.folder, 'archive.db') }, newPair);
  const bytes = new Map<number, number>();
  const rows = new Map<number, number>();
  const least = (counts: Map<number, number>, nights: number, count: number) =>
    counts.set(nights, Math.min(count, counts.get(nights) ?? Number.POSITIVE_INFINITY));
  const seen = countArchivedRows();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [nights, begun] of pairs) {
      const { warehouse, archive } = copyPair(begun, newPair());
      const night = rigOver(rig.emulator, sqlitePlace(warehouse), today);
      const [before, rowsBefore] = [bytesMoved(), seen.rows];
      const { report } = await night.run({ settings: { archives: [archive] } });
      least(bytes, nights, bytesMoved() - before);
      least(rows, nights, seen.rows - rowsBefore);
      expect(report.exitCode).toBe(0);
    }
  const [few = 0, ...more] = rows.values();
  for (const count of more) expect(count / few).toBeLessThan(NIGHT_RATIO_MAX);
  // From 30 to 300 nights, new objects come to lie on more pages of their index, each on one of its own at most.
  const [, some = 0, many = 0] = bytes.values();
  expect(many / some).toBeLessThan(NIGHT_RATIO_MAX);
});
