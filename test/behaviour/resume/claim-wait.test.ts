import { describe, expect, it } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { CLAIM_WAIT_MS, ClaimWait } from '../../../src/pipeline/run/claim-wait.ts';
import { dayKey, readinessKey, type UnitKey } from '../../../src/units/unit.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { createRig, type Ran, TODAY } from '../../support/rig/rig.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const READINESS = readinessKey('org_1');

const warningsOf = ({ events }: Ran) =>
  events.flatMap((event) => (event.type === 'warning' ? [`${event.message}; ${event.hint}`] : []));

describe('a wait for the units of another worker', () => {
  const signal = new AbortController().signal;

  it('reports once what it waits for, and ends after ten minutes', async () => {
    const clock = new FakeClock({ auto: true });
    const messages: string[] = [];
    const wait = new ClaimWait({ clock, pauseMs: 500, warn: (message) => void messages.push(message) });
    await wait.begin();
    let pauses = 0;
    while (await wait.pause([READINESS], signal)) pauses += 1;
    expect(pauses).toBe(CLAIM_WAIT_MS / 500);
    expect(messages).toEqual(['waiting for another worker that holds readiness']);
  });

  it('continues while the other worker makes progress', async () => {
    const clock = new FakeClock({ auto: true });
    const endMs = 35 * 60_000;
    const progress = async () => String(Math.min(clock.monotonicMs(), endMs));
    const wait = new ClaimWait({ clock, pauseMs: 5_000, warn: () => undefined, progress });
    await wait.begin();
    while (await wait.pause([READINESS], signal));
    expect(clock.monotonicMs()).toBeGreaterThan(endMs);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(endMs + 2 * CLAIM_WAIT_MS);
  });
});

onDatabase(postgres, () => {
  describe('a run beside a worker that holds units and makes no progress', () => {
    it('pulls the other units, skips the held ones with a message and a remedy, and ends with exit code 4', async () => {
      needsSessions(postgres);
      const rig = await createRig({}, { database: postgres });
      const stuck = await open(rig.place);
      const { orgId } = rig.emulator;
      const held: UnitKey[] = [
        readinessKey(orgId),
        ...[0, 1, 2, 3, 4].map((n) =>
          dayKey(orgId, { stream: 'tokens', day: shiftDay(parseDay('2026-01-20'), n) }),
        ),
      ];
      const lock = await stuck.lock();
      expect(await lock.claim(held)).toHaveLength(held.length);
      const ran = await rig.run({ clock: hurriedClock(`${TODAY}T03:00:00Z`, 600) });
      expect(ran.report).toMatchObject({ exitCode: 4, unitsFailed: 0, unitsLeftOut: held.length });
      expect(ran.report.unitsDone).toBe(ran.report.unitsPlanned - held.length);
      const days = 'tokens 2026-01-20, tokens 2026-01-21, tokens 2026-01-22 and 2 more units';
      expect(warningsOf(ran).toSorted()).toEqual(
        [days, 'readiness']
          .flatMap((units) => [
            `waiting for another worker that holds ${units}; they are left out after 10 minutes without progress`,
            `another worker has held ${units} for 10 minutes without progress; ` +
              'end that worker, or its session on the server, then run again: it resumes',
          ])
          .toSorted(),
      );
      expect(ran.report.problems.map(({ units }) => units).toSorted()).toEqual([1, 5]);
      await lock.release();
      expect((await rig.run()).report).toMatchObject({ exitCode: 0 });
    });
  });

  describe('a run that meets a change of another worker to a unit that it holds itself', () => {
    it('frees the unit, pulls it again and ends with exit code 0, without a wait for itself', async () => {
      needsSessions(postgres);
      const rig = await createRig({}, { database: postgres });
      const [day, stream] = [parseDay('2026-02-08'), 'tokens'] as const;
      // The run requests the newest day before it claims anything, and the other day after that.
      const asked = { from: day, until: shiftDay(day, 1), streams: [stream], settings: { rangeDays: 1 } };
      await rig.run(asked);
      const digest = await rig.digest();
      const rival = await open(rig.place);
      const { orgId } = rig.emulator;
      rig.emulator.resetJournal();
      rig.emulator.setRules([{ match: { stream }, action: { type: 'delay', ms: 1_500 } }]);
      const running = rig.run({ ...asked, clock: hurriedClock(`${TODAY}T03:00:00Z`, 600) });
      const requested = () =>
        rig.emulator.journal().recent.filter(({ query }) => query.includes(`startDate=${day}`));
      await expect.poll(requested, { interval: 20, timeout: 20_000 }).toHaveLength(1);
      await commitDay(
        rival,
        commitOf({ orgId, day, stream, rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }),
      );
      const ran = await running;
      expect(ran.report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0 });
      expect(warningsOf(ran)).toEqual([]);
      expect(await rig.digest()).toBe(digest);
      expect(await rig.value('SELECT attempts FROM export_units WHERE date = ?', day)).toBe(3);
    });
  });
});
