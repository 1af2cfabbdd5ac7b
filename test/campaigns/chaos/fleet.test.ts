// @module-tag campaign/chaos

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseDay, type UtcDay } from '../../../src/core/day.ts';
import {
  allEnded,
  endConnections,
  mostRequested,
  reportOf,
  startFleet,
  WORKERS,
  type Worker,
  watchLocks,
} from '../../support/chaos/fleet.ts';
import { newestInstalled } from '../../support/postgres/binaries.ts';
import { executeAlone } from '../../support/postgres/execute-alone.ts';
import { keepProcess } from '../../support/postgres/kept-process.ts';
import { startPair } from '../../support/postgres/standby.ts';
import type { Running } from '../../support/process/daywalk-process.ts';
import { type Random, seeded } from '../../support/random/seed.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { killsMax, printProgress } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { postgresPlace } from '../../support/warehouse/postgres-place.ts';

const TODAY: UtcDay = parseDay('2026-02-10');
const BLOWS = 6;
/** A lock outlives the work on its unit until the next claim, and work pauses while its worker or the server is stopped. */
const HELD_MS_MAX = 20_000;
const installed = newestInstalled(process.env['PATH'] ?? '');

describe('a fleet of workers on a bad day', { skip: installed === undefined }, () => {
  it('loses and doubles nothing, holds no claim without work, and ends soon after the last blow', async () => {
    const random = seeded('fleet');
    const single = await exportedByOne();
    const fleets = Math.ceil(killsMax(200, 20) / 10);
    const server = await keepProcess('./own-server.ts', [installed?.folder ?? '']);
    try {
      for (let n = 0; n < fleets; n += 1) {
        printProgress(`fleet ${n + 1} of ${fleets}`);
        const schema = `fleet_${n}`;
        const rig = rigAt(single, server.url, schema);
        // Long enough that all blows fall while units are in work.
        rig.emulator.setLatency(200 + Math.floor(random() * 400));
        await expectOneGoodNight(rig, { schema, random, restart: () => server.tell('restart') });
        rig.emulator.setLatency(0);
        expect((await rig.run()).report).toMatchObject({ exitCode: 0 });
        expect(await rig.digest()).toBe(await single.digest());
        countUp('kill points', 'in fleets of workers', BLOWS);
      }
    } finally {
      await server.stop();
    }
  });

  it('ends with 6 if a standby takes over that lacks its commits, and the next run restores them', async (context) => {
    const pair = await startPair();
    if (pair === undefined) return context.skip('no PostgreSQL is installed that could be a standby');
    const random = seeded('failover');
    const single = await exportedByOne();
    const rig = rigAt(single, pair.url, 'fleet');
    rig.emulator.setLatency(400);
    const workers = await startFleet(rig, random);
    await pair.stopReplication();
    const stored = 'SELECT COUNT(*)::int AS units FROM fleet.export_units';
    const before = await executeAlone<{ units: number }>(rig.path, stored);
    const doneOf = ({ stderr }: Running) => stderr().split('unit-done').length;
    const done = workers.map(doneOf);
    const hasLost = () => workers.every((worker, n) => doneOf(worker) > (done[n] ?? 0) + 1);
    await expect.poll(hasLost, { interval: 20 }).toBe(true);
    await pair.failOver();
    for (const ended of await allEnded(workers)) expect(ended.code, ended.stderr.slice(-2_000)).toBe(6);
    const after = await executeAlone<{ units: number }>(rig.path, stored);
    // The standby had applied little more than it had when it was cut off.
    expect(after[0]?.units).toBeLessThan((before[0]?.units ?? 0) + 2 * WORKERS);
    rig.emulator.setLatency(0);
    expect((await rig.run()).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
    expect((await rig.run()).report).toMatchObject({ exitCode: 0 });
    expect(await rig.digest()).toBe(await single.digest());
    expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(0);
    countUp('kill points', 'in fleets of workers', 1);
  });

  it('doubles no unit of a worker that is stopped until the others have taken and stored its units', async () => {
    const random = seeded('stopped');
    const single = await exportedByOne();
    const server = await keepProcess('./own-server.ts', [installed?.folder ?? '']);
    try {
      const rig = rigAt(single, server.url, 'stopped');
      rig.emulator.setLatency(200);
      const [stopped, ...others] = await startFleet(rig, random);
      if (stopped === undefined) throw new Error('the fleet has no worker');
      const goOn = stopped.stop();
      await endConnections(rig, stopped);
      const reports = (await allEnded(others)).map(reportOf);
      goOn();
      const [ended] = await allEnded([stopped]);
      if (ended === undefined) throw new Error('the worker has not ended');
      for (const { unitsDone, unitsElsewhere, unitsPlanned, exitCode } of [...reports, reportOf(ended)]) {
        expect(exitCode).toBe(0);
        expect(unitsDone + unitsElsewhere).toBe(unitsPlanned);
      }
      expect(mostRequested(rig)).toBeLessThanOrEqual(WORKERS + 1);
      expect(
        await rig.value("SELECT COUNT(*) FROM export_units WHERE state = 'failed' OR attempts > 2"),
      ).toBe(0);
      expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(0);
      expect(await rig.digest()).toBe(await single.digest());
      countUp('kill points', 'in fleets of workers', 1);
    } finally {
      await server.stop();
    }
  });
});

async function exportedByOne(): Promise<Rig> {
  const single = await createRig({ today: TODAY });
  expect((await single.run()).report.exitCode).toBe(0);
  return single;
}

/** A rig for the service of another one. The warehouse goes with its server. */
function rigAt({ emulator }: Rig, url: string, schema: string): Rig {
  emulator.resetJournal();
  return rigOver(
    emulator,
    postgresPlace(url, schema, async () => undefined),
    TODAY,
  );
}

interface Weather {
  readonly schema: string;
  readonly random: Random;
  readonly restart: () => void;
}

async function expectOneGoodNight(rig: Rig, { schema, random, restart }: Weather): Promise<void> {
  const workers = await startFleet(rig, random);
  const killed = new Set<Worker>();
  const locks = watchLocks(rig, schema);
  for (let blow = 0; blow < BLOWS; blow += 1) {
    await delay(random() * 1_500);
    const worker = workers[Math.floor(random() * WORKERS)];
    if (worker === undefined) throw new Error('the fleet has no worker');
    const kind = random();
    if (kind < 0.35) restart();
    else if (kind < 0.7) await endConnections(rig, worker);
    else if (kind < 0.9 || killed.size > 0) {
      const goOn = worker.stop();
      // What it holds may be lost while it is stopped, and be taken by others.
      if (random() < 0.5) await endConnections(rig, worker);
      await delay(random() * 3_000);
      goOn();
    } else {
      worker.child.kill('SIGKILL');
      killed.add(worker);
    }
  }
  const sinceMs = performance.now();
  const others = workers.filter((worker) => !killed.has(worker));
  for (const ended of await allEnded(others)) expect(ended.code, ended.stderr.slice(-4_000)).toBe(0);
  const longest = await locks.end();
  const [endedS, heldS] = [performance.now() - sinceMs, longest.ms].map((ms) => Math.round(ms / 1000));
  printProgress(`  ended ${endedS} s after the last blow; no lock was held for more than ${heldS} s`);
  expect(longest.ms, longest.of).toBeLessThan(HELD_MS_MAX);
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
  // Each blow makes at most the units that a worker has in work be pulled once more.
  expect(mostRequested(rig)).toBeLessThanOrEqual(WORKERS + BLOWS);
}
