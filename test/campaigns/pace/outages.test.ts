// @module-tag campaign/pace

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { pick, seeded } from '../../support/random/seed.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-24');
const MINUTE_MS = 60_000;
/** A minute passes in a tenth of a second. */
const HURRY = 600;
const PATIENCE_MS = 60 * MINUTE_MS;
/** The longest pause between two probes, and what a busy machine takes longer. */
const SLACK_MS = 5 * MINUTE_MS;
const ROUNDS = 12;

const ACTIONS: readonly [Rule['action'], ...Rule['action'][]] = [
  { type: 'status', status: 503 },
  { type: 'status', status: 429 },
  { type: 'status', status: 502 },
  { type: 'reset' },
];

onEachDatabase((database) => {
  describe('outages of 1 to 60 minutes', () => {
    test('cost a run nothing but time if the patience lasts, and nothing that is stored if it does not', async () => {
      const random = seeded(`outages on ${database.name}`);
      const clock = hurriedClock(`${today}T03:00:00Z`, HURRY);
      for (let number = 0; number < ROUNDS; number += 1) {
        const rig = await createRig({ today, users: 10, reports: 3 }, { database });
        const outageMs = (1 + Math.floor(random() * 60)) * MINUTE_MS;
        const [after, concurrency, rangeDays] = [
          1 + Math.floor(random() * 30),
          pick(random, [1, 4, 8]),
          pick(random, [1, 31]),
        ];
        rig.emulator.setRules([{ id: 'down', when: { after }, action: pick(random, ACTIONS) }]);
        const patienceMs =
          random() < 0.7 || outageMs < 20 * MINUTE_MS ? PATIENCE_MS + SLACK_MS : outageMs / 4;
        let waits = 0;
        const { report } = await rig.run({
          ...{ clock, settings: { concurrency, rangeDays, patience: patienceMs } },
          onEvent: ({ type }) => {
            if (type !== 'wait-began') return;
            waits += 1;
            if (waits === 1) void delay(outageMs / HURRY).then(() => rig.emulator.setRules([]));
          },
        });
        const facts = JSON.stringify({ outageMs, patienceMs, after, concurrency, rangeDays, report });
        // A run of few requests may have ended before.
        if (waits === 0) expect(report.exitCode, facts).toBe(0);
        else expect(report.exitCode, facts).toBe(patienceMs > PATIENCE_MS ? 0 : 4);
        rig.emulator.setRules([]);
        if (report.exitCode === 4) expect((await rig.run()).report.exitCode, facts).toBe(0);
        const undisturbed = rigOver(rig.emulator, sqlite.place(), rig.today);
        await undisturbed.run();
        expect(await rig.digest(), facts).toBe(await undisturbed.digest());
      }
    });
  });
});
