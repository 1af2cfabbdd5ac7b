// @module-tag campaign/chaos

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseDay, type UtcDay } from '../../../src/core/day.ts';
import { newestInstalled } from '../../support/postgres/binaries.ts';
import { executeAlone } from '../../support/postgres/execute-alone.ts';
import { keepProcess } from '../../support/postgres/kept-process.ts';
import { type Running, startDaywalk } from '../../support/process/daywalk-process.ts';
import { seeded } from '../../support/random/seed.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { killsMax, printProgress } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { postgresPlace } from '../../support/warehouse/postgres-place.ts';

const TODAY: UtcDay = parseDay('2026-02-10');
const WORKERS = 4;
const BLOWS = 6;
/** A claim is lost for at most as long as the session needs to connect again; ten minutes would be a worker that waits for itself. */
const END_MS = 120_000;

const installed = newestInstalled(process.env['PATH'] ?? '');

describe.skipIf(installed === undefined)('a fleet of workers on a bad day', () => {
  it('loses and doubles nothing, holds no claim without work, and ends soon after the last blow', async () => {
    const random = seeded('fleet');
    const single = await createRig({ today: TODAY });
    expect((await single.run()).report.exitCode).toBe(0);
    const digest = await single.digest();
    const fleets = Math.ceil(killsMax(200, 20) / 10);
    const server = await keepProcess('./own-server.ts', [installed?.folder ?? '']);
    try {
      for (let n = 0; n < fleets; n += 1) {
        printProgress(`fleet ${n + 1} of ${fleets}`);
        const schema = `fleet_${n}`;
        const rig = rigOver(
          single.emulator,
          postgresPlace(server.url, schema, async () => undefined),
          TODAY,
        );
        // Long enough that all blows fall while units are in work.
        rig.emulator.setLatency(200 + Math.floor(random() * 400));
        rig.emulator.resetJournal();
        await expectOneGoodNight(rig, { schema, random, restart: () => server.tell('restart') });
        rig.emulator.setLatency(0);
        expect((await rig.run()).report).toMatchObject({ exitCode: 0 });
        expect(await rig.digest()).toBe(digest);
        countUp('kill points', 'in fleets of workers', BLOWS);
      }
    } finally {
      await server.stop();
    }
  });
});

interface Weather {
  readonly schema: string;
  readonly random: () => number;
  readonly restart: () => void;
}

async function expectOneGoodNight(rig: Rig, { schema, random, restart }: Weather): Promise<void> {
  const application = (worker: number) => `fleet worker ${worker}`;
  const workers = Array.from({ length: WORKERS }, (_, n) => startWorker(rig, application(n)));
  for (const { stderr } of workers) await expect.poll(stderr, { interval: 10 }).toContain('unit-done');
  const killed = new Set<Running>();
  for (let blow = 0; blow < BLOWS; blow += 1) {
    await delay(random() * 1_500);
    const n = Math.floor(random() * WORKERS);
    const worker = workers[n];
    const kind = random();
    if (kind < 0.35) restart();
    else if (kind < 0.7) {
      // The server may be starting.
      await rig
        .sql(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?',
          application(n),
        )
        .catch(() => undefined);
    } else if (kind < 0.9 || killed.size > 0) {
      worker?.child.kill('SIGSTOP');
      await delay(random() * 3_000);
      worker?.child.kill('SIGCONT');
    } else if (worker !== undefined) {
      worker.child.kill('SIGKILL');
      killed.add(worker);
    }
  }
  const sinceMs = performance.now();
  for (const worker of workers) {
    const ended = await Promise.race([worker.ended, delay(END_MS)]);
    expect(ended, `a worker still waits: ${worker.stderr().slice(-2_000)}`).toBeDefined();
    if (ended !== undefined && !killed.has(worker)) expect(ended.code, ended.stderr.slice(-4_000)).toBe(0);
  }
  printProgress(`  ended ${Math.round((performance.now() - sinceMs) / 1000)} s after the last blow`);
  // The server may have to start after the last blow.
  await expect.poll(() => executeAlone(rig.path, 'SELECT 1').catch(() => [])).toHaveLength(1);
  const [left] = await executeAlone<object>(
    rig.path,
    `SELECT (SELECT COUNT(*) FROM ${schema}.export_units WHERE state = 'failed')::int AS failed,
      (SELECT COUNT(*) FROM ${schema}.restatements)::int AS restatements,
      (SELECT COUNT(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND application_name LIKE 'fleet worker%')::int AS locks`,
  );
  expect(left).toEqual({ failed: 0, restatements: 0, locks: 0 });
  expectFewRepetitions(rig);
}

/** Each blow makes at most the units that a worker has in work be pulled once more. */
function expectFewRepetitions(rig: Rig): void {
  const requests = new Map<string, number>();
  for (const { path, query } of rig.emulator.journal().recent) {
    const name = `${path} ${query}`;
    requests.set(name, (requests.get(name) ?? 0) + 1);
  }
  const most = [...requests].toSorted(([, a], [, b]) => b - a)[0];
  // Each worker also requests the newest day once to learn the organization.
  expect(most?.[1] ?? 0, most?.[0]).toBeLessThanOrEqual(WORKERS + BLOWS);
}

function startWorker(rig: Rig, application: string): Running {
  return startDaywalk(['run', '--json', '--range-days', '1', '--concurrency', '2'], {
    env: {
      DAYWALK_API_KEY: rig.emulator.apiKey,
      DAYWALK_BASE_URL: rig.emulator.url,
      DAYWALK_WAREHOUSE: `${rig.path}&application_name=${encodeURIComponent(application)}`,
      DAYWALK_NOW: `${TODAY}T03:00:00Z`,
    },
  });
}
