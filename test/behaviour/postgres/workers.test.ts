// @module-tag database-specific

import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { digestWarehouse } from '../../../jobs/status.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { RunReport } from '../../../src/pipeline/events.ts';
import { type Ended, type Running, startDaywalk } from '../../support/process/daywalk-process.ts';
import { type RunRequest, rigOver, TODAY } from '../../support/rig/rig.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Days from the first to the day before the rig's today, in five streams, and the readiness reports. */
const UNITS = 27 * 5 + 1;

async function service(latencyMs: number): Promise<Emulator> {
  const emulator = await startEmulator({ realistic: true, today: TODAY, users: 40, reports: 25, latencyMs });
  onTestFinished(() => emulator.close());
  return emulator;
}

function startWorker(emulator: Emulator, place: Place, args: readonly string[] = ['run']): Running {
  return startDaywalk([...args, '--json', '--range-days', '1'], {
    env: {
      DAYWALK_API_KEY: emulator.apiKey,
      DAYWALK_BASE_URL: emulator.url,
      DAYWALK_WAREHOUSE: place.location,
      DAYWALK_NOW: `${TODAY}T03:00:00Z`,
    },
  });
}

function reportOf({ stdout, stderr }: Ended): RunReport {
  expect(stdout, stderr).toMatch(/^\{/);
  return JSON.parse(stdout);
}

/** The digest of a SQLite warehouse that one run filled from the same service. */
async function digestOfOne(emulator: Emulator, asked: RunRequest = {}): Promise<string> {
  const rig = rigOver(emulator, sqlite.place());
  expect((await rig.run(asked)).report.exitCode).toBe(0);
  return rig.digest();
}

async function digestOf(emulator: Emulator, place: Place): Promise<string> {
  const { settings } = rigOver(emulator, place);
  const context = { clock: systemClock(), observe: () => undefined, signal: new AbortController().signal };
  return (await digestWarehouse(settings, context)).warehouse;
}

/** Requests that were sent more than once. */
function askedTwice(emulator: Emulator): string[] {
  const asked = emulator.journal().recent.map(({ path, query }) => `${path} ${query}`);
  return [...new Set(asked.filter((request, index) => asked.indexOf(request) !== index))];
}

/** A place whose connections have a recognizable name. */
function namedPlace(): Place & { readonly application: string } {
  const place = postgres.place();
  const application = `workers ${randomUUID().slice(0, 8)}`;
  return {
    ...place,
    application,
    location: `${place.location}&application_name=${encodeURIComponent(application)}`,
  };
}

/** How many locks the workers hold. */
async function heldLocks(place: Place & { readonly application: string }): Promise<number> {
  const [row] = await place.query<{ n: number }>(
    `SELECT COUNT(*) AS n FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE l.locktype = 'advisory' AND a.application_name = ?`,
    place.application,
  );
  return row?.n ?? 0;
}

onDatabase(postgres, () => {
  describe('workers on one warehouse', () => {
    it('K5: share the units of the plan: none is pulled twice, and all are stored', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const emulator = await service(20);
      const place = namedPlace();
      // What is settled once it is pulled: a worker that plans later finds nothing to do, not something to do again.
      const range = ['--from', '2026-01-14', '--until', '2026-02-06', '--streams', DAILY_STREAMS.join(',')];
      const workers = [
        startWorker(emulator, place, ['run', ...range]),
        startWorker(emulator, place, ['run', ...range]),
        startWorker(emulator, place, ['backfill', '--newest-first', ...range]),
      ];
      const ends = await Promise.all(workers.map(({ ended }) => ended));
      const reports = ends.map(reportOf);
      expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
      expect(reports.reduce((sum, { unitsDone }) => sum + unitsDone, 0)).toBe(24 * 5);
      for (const report of reports) {
        expect(report.unitsDone + report.unitsElsewhere).toBe(report.unitsPlanned);
        expect(report).toMatchObject({ unitsFailed: 0, unitsLeftOut: 0 });
      }
      // Each worker requests the newest day once to learn the organization; nothing else is requested twice.
      const twice = askedTwice(emulator);
      expect(twice).toHaveLength(1);
      expect(twice[0]).toMatch(/tokens.*startDate=2026-02-06&endDate=2026-02-06/);
      const one = await digestOfOne(emulator, { until: parseDay('2026-02-06'), streams: DAILY_STREAMS });
      expect(await digestOf(emulator, place)).toBe(one);
      await expect.poll(() => heldLocks(place)).toBe(0);
    });

    it('of which two are killed leave no locks, lose nothing and store nothing twice', {
      tags: 'ci/variant',
    }, async () => {
      needsSessions(postgres);
      // Slow until all have begun, so that none finds everything done.
      const emulator = await service(1_000);
      const place = namedPlace();
      const workers = [0, 1, 2, 3].map(() => startWorker(emulator, place));
      for (const { stderr } of workers) await expect.poll(stderr, { interval: 5 }).toContain('unit-done');
      for (const { child } of workers.slice(0, 2)) child.kill('SIGKILL');
      emulator.setLatency(0);
      const ends = await Promise.all(workers.map(({ ended }) => ended));
      expect(ends.map(({ code, signal }) => signal ?? code)).toEqual(['SIGKILL', 'SIGKILL', 0, 0]);
      const [left] = await place.query<{ n: number }>(
        "SELECT COUNT(*) AS n FROM export_units WHERE state <> 'loaded' AND state <> 'empty' AND state <> 'awaiting'",
      );
      expect(left?.n).toBe(0);
      const [units] = await place.query<{ n: number }>('SELECT COUNT(*) AS n FROM export_units');
      expect(units?.n).toBe(UNITS);
      await expect.poll(() => heldLocks(place)).toBe(0);
      expect(await digestOf(emulator, place)).toBe(await digestOfOne(emulator));
      expect(await place.query('SELECT COUNT(*) AS n FROM restatements')).toEqual([{ n: 0 }]);
    });

    it('pull the readiness reports one worker at a time', { tags: 'ci/variant' }, async () => {
      needsSessions(postgres);
      // A worker that begins only when another has ended reads them again, so one must take longer than the others' start.
      const emulator = await service(0);
      emulator.setRules([{ match: { stream: 'readiness', page: 1 }, action: { type: 'delay', ms: 6_000 } }]);
      const place = namedPlace();
      const workers = [0, 1, 2].map(() => startWorker(emulator, place, ['run', '--streams', 'readiness']));
      const reports = (await Promise.all(workers.map(({ ended }) => ended))).map(reportOf);
      expect(reports.reduce((sum, { unitsDone }) => sum + unitsDone, 0)).toBe(1);
      expect(reports.reduce((sum, { unitsElsewhere }) => sum + unitsElsewhere, 0)).toBe(2);
    });

    it('are refused with exit code 75 while a command uses the whole warehouse, and block such a command themselves', {
      tags: 'ci/variant',
    }, async () => {
      needsSessions(postgres);
      const emulator = await service(0);
      const place = postgres.place();
      const warehouse = await open(place);
      const whole = await warehouse.lock({ exclusive: true });
      const refused = await startWorker(emulator, place).ended;
      expect(refused.code, refused.stderr).toBe(75);
      await whole.release();
      const worker = await (await open(place)).lock();
      await expect(warehouse.lock({ exclusive: true })).rejects.toMatchObject({ exitCode: 75 });
      await worker.release();
      await (await warehouse.lock({ exclusive: true })).release();
    });
  });
});
