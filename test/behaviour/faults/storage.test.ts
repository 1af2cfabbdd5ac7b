// @module-tag campaign/faults

import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  expectRecovery,
  expectUndisturbed,
  expectWholeUnits,
  smallRig,
  UNTIL,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { type ProxyOptions, postgresProxy } from '../../support/postgres/proxy.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { type Rig, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { needsSessions, onDatabase, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const MAIN = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
const RUN = ['run', '--until', UNTIL, '--range-days', '1'];
const NOBODY = 65_534;

/** Runs the compiled command line after some shell code, or as another user. */
function shell(
  rig: Rig,
  { before = ':', uid, env = {} }: { before?: string; uid?: number; env?: Record<string, string> },
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn('/bin/bash', ['-c', `${before}; exec "$0" "$@"`, process.execPath, MAIN, ...RUN], {
    env: { PATH: process.env['PATH'] ?? '', ...envOf(rig, env) },
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })));
}

onDatabase(sqlite, () => {
  test('S1: a full disk ends the run with exit code 6 and the path, and the next run on a larger disk completes the copy', async () => {
    const rig = await smallRig(sqlite);
    await walk(rig, { until: UNTIL, streams: ['tokens'] });
    // The kernel lets no file grow beyond the limit, in blocks of 1024 bytes, as on a disk that is full.
    const blocks = Math.ceil(statSync(rig.path).size / 2048);
    const { code, stderr } = await shell(rig, { before: `trap '' XFSZ; ulimit -f ${blocks}` });
    expect(code, stderr).toBe(6);
    expect(stderr).toContain(rig.path);
    expect(stderr).toMatch(/full|disk|space/i);
    expect(Number(await rig.value('SELECT COUNT(*) FROM export_units'))).toBeLessThan(16);
    await expectWholeUnits(rig);
    await expectRecovery(rig);
  });

  describe('S8: a path that cannot be written ends the run with exit code 6 before the first request', () => {
    test('S8: a missing folder', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(sqlite);
      const path = join(tempDir(), 'nowhere', 'w.db');
      const { code, stderr } = await daywalk([...RUN, '--warehouse', path], { env: envOf(rig) });
      expect(code).toBe(6);
      expect(stderr).toContain(path);
      expect(rig.emulator.journal().requests).toBe(0);
    });

    testVariants([
      ['a file', 0o444, 0o755],
      ['a folder', 0o444, 0o555],
    ])('S8: %s without write permission', { tags: 'ci/rare' }, async (_, fileMode, folderMode) => {
      const rig = await smallRig(sqlite);
      await walk(rig);
      const digest = await rig.digest();
      rig.emulator.resetJournal();
      const folder = join(rig.path, '..');
      chmodSync(rig.path, fileMode);
      chmodSync(folder, folderMode);
      const { code, stderr } = await shell(rig, process.getuid?.() === 0 ? { uid: NOBODY } : {});
      chmodSync(folder, 0o755);
      expect(code, stderr).toBe(6);
      expect(stderr).toContain(rig.path);
      expect(rig.emulator.journal().requests).toBe(0);
      expect(await rig.digest()).toBe(digest);
    });

    test('S8: a folder in the place of the file', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(sqlite);
      const path = join(tempDir(), 'w.db');
      mkdirSync(path);
      const { code } = await daywalk([...RUN, '--warehouse', path], { env: envOf(rig) });
      // Nothing is wrong with the storage: another place must be named.
      expect(code).toBe(2);
      expect(rig.emulator.journal().requests).toBe(0);
    });
  });
});

/** A small rig whose warehouse is reached through a proxy. */
async function through(options: ProxyOptions): Promise<Rig> {
  const direct = await smallRig(postgres);
  const proxy = await postgresProxy(direct.path, options);
  const place: Place = { ...direct.place, location: proxy.url };
  return rigOver(direct.emulator, place);
}

onDatabase(postgres, () => {
  test('S9: a run reconnects when the server ends connections, and nothing is lost or stored twice', async () => {
    needsSessions(postgres);
    const direct = await smallRig(postgres, { latencyMs: 100 });
    const name = `ended-${process.pid}-${direct.emulator.url.split(':').at(-1)}`;
    const rig = rigOver(direct.emulator, {
      ...direct.place,
      location: `${direct.path}&application_name=${name}`,
    });
    let ended = 0;
    let ending: Promise<void> | undefined;
    const endConnections = async () => {
      const [row] = await direct.place.query<{ n: number }>(
        `SELECT COUNT(pg_terminate_backend(pid)) AS n FROM pg_stat_activity WHERE application_name = '${name}'`,
      );
      ended += Number(row?.n ?? 0);
      ending = undefined;
    };
    const { report } = await walk(rig, {
      settings: { concurrency: 2 },
      onEvent: ({ type }) => {
        // One after the other: right after an end there is no connection that could be ended again.
        if (type === 'unit-done' && ended < 3) ending ??= endConnections();
      },
    });
    await ending;
    expect(ended).toBeGreaterThanOrEqual(3);
    expect(report.exitCode, JSON.stringify(report.problems)).toBe(0);
    await expectWholeUnits(direct);
    await expectUndisturbed(direct);
  });

  testVariants(['before', 'after'] as const)(
    'S10: when the response to COMMIT is lost (cut %s the server received it), nothing is lost or stored twice',
    async (when) => {
      needsSessions(postgres);
      let commits = 0;
      let cuts = 0;
      const rig = await through({
        onSent: (chunk, cut) => {
          if (!chunk.includes('COMMIT')) return;
          commits += 1;
          // Every third one, from the first day that is stored on.
          if (commits < 6 || commits % 3 !== 0 || cuts >= 3) return;
          cuts += 1;
          cut(when);
        },
      });
      const { report } = await walk(rig, { settings: { concurrency: 2 } });
      expect(cuts).toBe(3);
      expect(report.exitCode, JSON.stringify(report.problems)).toBe(0);
      expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(0);
      await expectUndisturbed(rig);
    },
  );
});
