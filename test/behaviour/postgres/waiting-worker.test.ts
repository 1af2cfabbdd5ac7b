// @module-tag database-specific

import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { RunReport } from '../../../src/pipeline/events.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { type Gate, openGate } from '../../support/network/gate.ts';
import { type Rig, rigOver, TODAY } from '../../support/rig/rig.ts';
import { needsSessions, onDatabase, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** A minute passes in half a second: longer than another worker's statements take. */
const clock = hurriedClock(`${TODAY}T03:00:00Z`, 120);
/** The run lock, and the watch over settled days, which is no unit. */
const LOCKS_MAX = 2;

interface Waiting {
  readonly gate: Gate;
  /** Another worker, whom the service answers. */
  readonly other: Rig;
  readonly locks: () => Promise<number>;
  readonly ended: Promise<RunReport>;
}

/** Starts a worker through a gate that is shut once it has pulled a few units, and waits until it waits. */
async function waitingWorker(emulator: Emulator): Promise<Waiting> {
  const gate = await openGate(emulator.url);
  const place = await postgres.migrated();
  const application = `waiting ${randomUUID().slice(0, 8)}`;
  const named: Place = { ...place, location: withName(place.location, application) };
  const waiting = rigOver(emulator, named, TODAY, 30 * 60_000);
  let done = 0;
  let ended: Promise<RunReport> | undefined;
  await new Promise<void>((resolve) => {
    const ran = waiting.run({
      ...{
        clock,
        settings: { baseUrl: gate.url, appUrl: gate.url, concurrency: 4, rangeDays: 1, attempts: 2 },
      },
      onEvent: ({ type }) => {
        if (type === 'unit-done' && ++done === 10) void gate.shut();
        if (type === 'wait-began') resolve();
      },
    });
    ended = ran.then(({ report }) => report);
  });
  const locks = async () => {
    const [row] = await place.query<{ n: number }>(
      `SELECT COUNT(*) AS n FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.locktype = 'advisory' AND a.application_name = ?`,
      application,
    );
    return row?.n ?? 0;
  };
  if (ended === undefined) throw new Error('the worker did not start');
  return { gate, other: rigOver(emulator, place), locks, ended };
}

function withName(location: string, application: string): string {
  const url = new URL(location);
  url.searchParams.set('application_name', application);
  return url.href;
}

async function service(): Promise<Emulator> {
  const emulator = await startEmulator({
    realistic: true,
    today: TODAY,
    users: 20,
    reports: 25,
    latencyMs: 10,
  });
  onTestFinished(() => emulator.close());
  return emulator;
}

onDatabase(postgres, () => {
  describe('a worker that waits for the service', () => {
    it('holds its run lock and no unit, so that another worker completes the plan', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const emulator = await service();
      const { gate, other, locks, ended } = await waitingWorker(emulator);
      await expect.poll(locks, { interval: 20 }).toBeLessThanOrEqual(LOCKS_MAX);
      expect(await locks()).toBeGreaterThan(0);
      const { report: completed } = await other.run();
      expect(completed).toMatchObject({ exitCode: 0, unitsLeftOut: 0, unitsElsewhere: 0 });
      await gate.open();
      const report = await ended;
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0 });
      expect(report.unitsElsewhere).toBeGreaterThan(50);
      // Nothing that the other worker has stored was pulled again.
      expect(await other.value('SELECT MAX(attempts) FROM export_units')).toBeLessThanOrEqual(2);
      expect(await other.value('SELECT COUNT(*) FROM restatements')).toBe(0);
      const undisturbed = rigOver(emulator, sqlite.place());
      await undisturbed.run();
      expect(await other.digest()).toBe(await undisturbed.digest());
    });

    it('goes on with its units if nobody took them', { tags: 'ci/variant' }, async () => {
      needsSessions(postgres);
      const emulator = await service();
      const { gate, other, locks, ended } = await waitingWorker(emulator);
      await expect.poll(locks, { interval: 20 }).toBeLessThanOrEqual(LOCKS_MAX);
      await gate.open();
      expect(await ended).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0, unitsElsewhere: 0 });
      expect(await other.value('SELECT MAX(attempts) FROM export_units')).toBe(1);
    });
  });
});
