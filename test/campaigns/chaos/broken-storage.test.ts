// @module-tag campaign/chaos

import { copyFileSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  CAN_TRACE,
  IS_TRACED,
  pointsOf,
  runFailingAt,
  runKilledAt,
  runProcess,
} from '../../support/chaos/run-and-kill.ts';
import { firstRun, restatingRun, type Scene } from '../../support/chaos/scenes.ts';
import { seeded } from '../../support/random/seed.ts';
import { IS_LONG, killsMax, printProgress, spread } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Heaps that are too small for the beginning of a run, for its middle, for its end. */
const HEAPS_MB = [9, 4, 6, 8, 10, 11, 12, 13, 14];
/** Enough for a run to make progress before its heap is full; too slow for the suite. */
const USERS = IS_LONG ? 1_000 : 10;
/** The sync of a commit, in every run. */
const A_COMMIT = { call: 'fsync', n: 12 };
/**
 * How often days are committed together depends on what comes in first, so that the last sync of one run may be
 * another's last but one.
 */
const ATTEMPTS = 10;
/** Less than the log of any run that restates. */
const LOG_BYTES_MIN = 50_000;
/** A point that no run reaches. */
const NOWHERE = { call: 'fsync', n: 1_000_000 };
const NO_STRACE = 'strace is not here, and nothing else makes a sync fail';

test('S2: a failed sync ends the run with exit code 6 or does no harm, and the next run ends with the undisturbed content', async ({
  skip,
}) => {
  skip(!CAN_TRACE, NO_STRACE);
  const scene = await firstRun(sqlite);
  await scene.reset();
  const all = IS_LONG ? await pointsOf(scene) : [A_COMMIT];
  const syncs = all.filter(({ call }) => call === 'fsync' || call === 'fdatasync');
  const points = spread(syncs, killsMax(syncs.length, 1), seeded('syncs that fail'));
  let failedRuns = 0;
  for (const point of points) {
    for (const isForGood of IS_LONG ? [false, true] : [true]) {
      await scene.reset();
      const { code, said } = await runFailingAt(scene, point, 'EIO', isForGood);
      // The sync of the checkpoint on close may fail, because the log still has the copied content.
      expect([0, 6], `${point.call} ${point.n}: ${said}`).toContain(code);
      if (code === 6) {
        failedRuns += 1;
        expect(said).toContain(scene.path);
      } else await scene.expectDone();
      await scene.expectWhole();
      await scene.finish();
    }
  }
  countUp('kill points', 'failed syncs on SQLite', failedRuns);
  expect(failedRuns).toBeGreaterThanOrEqual(points.length);
});

test('S4: with a write-ahead log cut at any byte the warehouse opens with whole units, and the next run ends with the undisturbed content', async () => {
  const random = seeded('cut logs');
  const scene = await restatingRun(sqlite);
  await leaveLog(scene);
  const wal = `${scene.path}-wal`;
  const kept = tempFile();
  for (const suffix of ['', '-wal']) copyFileSync(scene.path + suffix, kept + suffix);
  const { length } = readFileSync(wal);
  const cuts = spread(cutsOf(length, random), killsMax(400, 4), random);
  for (const [index, bytes] of cuts.entries()) {
    if (index % 50 === 0) printProgress(`cut logs: ${index} of ${cuts.length}`);
    await scene.reset();
    for (const suffix of ['', '-wal']) copyFileSync(kept + suffix, scene.path + suffix);
    truncateSync(wal, bytes);
    await scene.expectWhole();
    await scene.finish();
  }
  countUp('kill points', 'cuts of the log on SQLite', cuts.length);
});

/** Creates a warehouse whose run was killed on close, before the log was copied into the file. */
async function leaveLog(scene: Scene): Promise<void> {
  const wal = `${scene.path}-wal`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await scene.reset();
    const before = readFileSync(scene.path);
    const points = await pointsOf(scene);
    const last = IS_TRACED ? points.filter(({ call }) => call === 'fsync').at(-2) : points.at(-1);
    await scene.reset();
    await runKilledAt(scene, last ?? NOWHERE);
    const isLeft = existsSync(wal) && statSync(wal).size > LOG_BYTES_MIN;
    if (isLeft && readFileSync(scene.path).equals(before)) return;
  }
  throw new Error(`no run of ${ATTEMPTS} was killed between its last commit and the copy of its log`);
}

/** Around every frame of a log, and anywhere. */
function cutsOf(length: number, random: () => number): number[] {
  const HEADER = 32;
  const FRAME = 24 + 4096;
  const cuts: number[] = [0, HEADER - 1];
  for (let at = HEADER; at <= length; at += FRAME)
    cuts.push(at, at + 1, Math.min(length, at + Math.floor(random() * FRAME)));
  return cuts;
}

test('X4: a run out of memory fails and leaves whole units, and the next run ends with the undisturbed content', async () => {
  const scene = await firstRun(sqlite, { users: USERS });
  let failed = 0;
  for (const megabytes of HEAPS_MB.slice(0, killsMax(HEAPS_MB.length, 1))) {
    await scene.reset();
    const { code, isKilled } = await runProcess(scene, [`--max-old-space-size=${megabytes}`]);
    if (code !== 0) {
      failed += 1;
      expect(isKilled).toBe(false);
    }
    await scene.expectWhole();
    await scene.finish();
  }
  countUp('kill points', 'out of memory on SQLite', failed);
  expect(failed).toBeGreaterThan(0);
});
