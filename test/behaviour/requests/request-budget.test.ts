// @module-tag campaign/pace

import { describe, expect, test } from 'vitest';
import { shiftDay } from '../../../src/core/day.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import {
  answered,
  expectUndisturbed,
  expectWholeUnits,
  smallRig,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { settledRig } from '../../support/rig/exported-rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Limits the number of runs; needing more is a failure. */
const RUNS_MAX = 20;

/** Prints the counts on request. */
function printCount(what: string, requests: number, bound: number): void {
  if (process.env['DAYWALK_CHAOS'] === undefined) return;
  process.stdout.write(`budget: ${what}: ${requests} requests, ${bound} at most\n`);
}

onEachDatabase((database) => {
  describe('a run with a request budget', () => {
    test('never exceeds it, ends with exit code 4, and later runs complete the copy', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await smallRig(database, {
        rules: [
          { id: 'fault', when: { probability: 0.2, seed: 3 }, action: { type: 'status', status: 500 } },
        ],
      });
      const settings = { maxRequests: 9, attempts: 8, watchDays: 0 };
      const exits: number[] = [];
      for (let run = 0; run < RUNS_MAX && exits.at(-1) !== 0; run += 1) {
        rig.emulator.resetJournal();
        const { report } = await walk(rig, { settings });
        const { requests } = rig.emulator.journal();
        expect(requests).toBeLessThanOrEqual(9);
        expect(report.requests).toBe(requests);
        expect([0, 4]).toContain(report.exitCode);
        if (report.exitCode === 4) {
          expect(requests).toBe(9);
          expect(report.problems.map(({ message }) => message).join()).toMatch(/9 requests .* are sent/);
          expect(report.unitsFailed).toBe(0);
        }
        await expectWholeUnits(rig);
        exits.push(report.exitCode);
      }
      expect(exits.length).toBeGreaterThan(2);
      expect(exits.at(-1)).toBe(0);
      await expectUndisturbed(rig);
    });

    test('spends it on unsettled days before it compares settled ones, and then ends with 0', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await settledRig({ users: 15, reports: 0 }, { database });
      const tomorrow = shiftDay(rig.today, 1);
      rig.emulator.setToday(tomorrow);
      const { report } = await rig.run({ now: tomorrow, settings: { maxRequests: 9 } });
      expect(report).toMatchObject({ exitCode: 0, requests: 9, unitsLeftOut: 0, unitsDone: 3 * 5 + 1 });
      // The round of the watch waits for a run that can finish it.
      const [watch = ''] = await rig.column("SELECT value FROM export_state WHERE name = 'watch'");
      expect(JSON.parse(watch)).toMatchObject({ isAgain: true });
      const { stdout } = await daywalkInProcess(['status', '--warehouse', rig.path], {
        env: { DAYWALK_NOW: `${tomorrow}T09:00:00Z` },
      });
      expect(stdout).toContain('looks and comparisons for which the last run had no requests left');
      const { report: whole } = await rig.run({ now: shiftDay(tomorrow, 1) });
      expect(whole.requests).toBeGreaterThan(9);
    });

    test('stores what was in progress when the last request was sent', async () => {
      const rig = await smallRig(database, { latencyMs: 20 });
      const { report } = await walk(rig, { settings: { maxRequests: 5 } });
      // The first identifies the organization and is a unit as well; none of the others was wasted.
      expect(report).toMatchObject({ exitCode: 4, requests: 5, unitsFailed: 0 });
      expect(report.unitsDone).toBeGreaterThanOrEqual(4);
      expect(report.unitsLeftOut).toBe(report.unitsPlanned - report.unitsDone);
    });

    test('is complete if the budget is just enough', async () => {
      const rig = await smallRig(database);
      const { report } = await walk(rig);
      const again = await smallRig(database);
      const exact = await walk(again, { settings: { maxRequests: report.requests } });
      expect(exact.report).toMatchObject({ exitCode: 0, requests: report.requests });
      await expectUndisturbed(again);
    });
  });

  describe('a service that is down receives no more requests than', () => {
    // Eight failures in a row end a run. Others may be under way by then: a unit for each of the concurrency but one,
    // and the readiness reports.
    const FAILURES = 8;
    const cases: readonly [string, Rule['action']][] = [
      ['503', { type: 'status', status: 503 }],
      ['resets', { type: 'reset' }],
    ];
    testVariants(cases)(
      '(8 + concurrency) × attempts, when it failed during the run: %s',
      { tags: 'ci/rare' },
      async (_, action) => {
        for (const [concurrency, rangeDays] of [
          [1, 31],
          [4, 1],
        ] as const) {
          const rig = await smallRig(database, { rules: [{ id: 'fault', when: { after: 5 }, action }] });
          // Ten months, which would be more than 1500 requests.
          const { report } = await rig.run({
            clock: hurriedClock(`${rig.today}T03:00:00Z`),
            settings: { attempts: 2, concurrency, rangeDays, patience: 0 },
          });
          expect(report.exitCode).toBe(4);
          expect(answered(rig, 200)).toBe(5);
          const { requests } = rig.emulator.journal();
          printCount(
            `down in mid-run, ${concurrency} in flight, 2 attempts`,
            requests - 5,
            (FAILURES + concurrency) * 2,
          );
          expect(requests - 5).toBeLessThanOrEqual((FAILURES + concurrency) * 2);
          await expectWholeUnits(rig);
        }
      },
    );

    test('one for each endpoint and attempt, when it was down from the start', async () => {
      const rig = await smallRig(database, { rules: [{ action: { type: 'status', status: 503 } }] });
      const { report } = await walk(rig, { settings: { attempts: 2 } });
      expect(report.exitCode).toBe(4);
      const { requests } = rig.emulator.journal();
      printCount('down from the start, 2 attempts', requests, 6 * 2);
      expect(requests).toBeLessThanOrEqual(6 * 2);
    });
  });
});

test('the flag and the variable set the budget of a run, and the message says how to continue', {
  tags: 'ci/rare',
}, async () => {
  const rig = await smallRig(sqlite);
  const args = ['run', '--until', '2026-01-16', '--range-days', '1'];
  const first = await daywalkInProcess([...args, '--max-requests', '7'], { env: envOf(rig) });
  expect(first.code).toBe(4);
  expect(first.stdout).toContain('the 7 requests that this run may send are sent');
  expect(rig.emulator.journal().requests).toBe(7);
  const rest = await daywalkInProcess(args, { env: envOf(rig, { DAYWALK_MAX_REQUESTS: '500' }) });
  expect(rest.code).toBe(0);
  await expectUndisturbed(rig);
});
